import * as z from 'zod'

/** The one region; Hot Aisle's API doesn't name it. */
export const region = 'us-michigan-1'

const kind = z.enum(['vm', 'bm'])
export type Kind = z.infer<typeof kind>

/** What an offer carries to its launch: the row's own `Specs`, unchanged. */
export const payload = z.object({ kind, specs: z.record(z.string(), z.json()) })

export const kindNames = { vm: 'virtual machine', bm: 'bare metal server' } as const satisfies Record<
  Kind,
  string
>

export const kindOf = (instanceType: string): Kind => (instanceType.startsWith('bm-') ? 'bm' : 'vm')

/** `vm-mi300x-2`, `bm-mi300x-8`. The CPU is not in the name. */
export const instanceTypeOf = (kind: Kind, gpuCount: number): string => `${kind}-mi300x-${gpuCount}`
