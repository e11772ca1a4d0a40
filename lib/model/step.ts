import type { Instance } from './instance.ts'

/** The handler whose turn it is, by the record alone: messages are hints, and a wrong one is sent on. */
export type Step = 'provision' | 'bootstrap' | 'check' | 'terminate'
export const steps = ['provision', 'bootstrap', 'check', 'terminate'] as const satisfies Step[]

export const stepOf = ({ status, phase }: Pick<Instance, 'status' | 'phase'>): Step | undefined => {
  switch (status) {
    case 'pending':
      return 'provision'
    case 'provisioning':
      return phase === 'launching' ? 'provision' : 'bootstrap'
    case 'idle':
    case 'busy':
      return 'check'
    case 'terminating':
      return 'terminate'
    case 'terminated':
      return undefined
  }
}
