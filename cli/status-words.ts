import type { ShownInstance } from './answers.ts'
import type { printer } from './print.ts'

const colours = {
  pending: 'gray',
  provisioning: 'cyan',
  idle: 'yellow',
  busy: 'green',
  terminating: 'magenta',
  terminated: 'gray',
} as const

/** `provisioning (booting)`, `terminated (idle_timeout)`, in the status' colour. */
export const statusInWords = (
  styled: ReturnType<typeof printer>['styled'],
  { status, phase, unreachableSince, terminationReason }: ShownInstance,
): string => {
  const detail = phase ?? terminationReason ?? (unreachableSince === null ? null : 'unreachable')
  const text = detail === null ? status : `${status} (${detail})`
  const colour = Object.entries(colours).find(([name]) => name === status)?.[1]
  return colour === undefined ? text : styled(colour, text)
}
