import * as z from 'zod'

const event = z.object({ at: z.string(), status: z.string(), message: z.string() })

const shownInstance = z.object({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  phase: z.string().nullable(),
  instanceType: z.string().nullable(),
  cloudId: z.string().nullable(),
  hostname: z.string().nullable(),
  sshPort: z.number().nullable(),
  sshUsername: z.string().nullable(),
  holder: z.string().nullable(),
  reservedUntil: z.string().nullable(),
  terminationReason: z.string().nullable(),
  terminationMessage: z.string().nullable(),
  hardware: z.object({ verdict: z.string(), differences: z.array(z.string()) }).nullable(),
  accruedCost: z.number(),
  events: z.array(event).default([]),
})
export type ShownInstance = z.infer<typeof shownInstance>

const shownOffers = z.object({
  offers: z.array(
    z.object({
      id: z.string(),
      backend: z.string(),
      region: z.string(),
      instanceType: z.string(),
      resources: z.object({
        cpu: z.object({ arch: z.string(), count: z.number() }),
        memoryGb: z.number(),
        diskGb: z.number(),
        gpu: z.object({ name: z.string(), memoryGb: z.number(), count: z.number() }).nullable(),
      }),
      pricePerHour: z.number(),
      availability: z.string(),
      minimumReservationMinutes: z.number(),
      minimumCharge: z.number(),
    }),
  ),
  errors: z.array(z.object({ backend: z.string(), code: z.string(), message: z.string() })),
})

/** A caller of the API, as anybody would write one. Throws with the problem's own words. */
export const apiClient = ({ url, apiKey }: { url: string; apiKey: string }) => {
  const call = async <Schema extends z.ZodType>(
    schema: Schema,
    method: string,
    path: string,
    body?: object,
  ) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer: unknown = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
    return schema.parse(answer)
  }
  return {
    offers: (query: string) => call(shownOffers, 'GET', `/offers?${query}`),
    rent: (body: object) => call(shownInstance, 'POST', '/instances', body),
    show: (id: string) => call(shownInstance, 'GET', `/instances/${id}`),
    release: (id: string) => call(shownInstance, 'POST', `/instances/${id}/release`),
  }
}
