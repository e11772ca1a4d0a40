import type { apiClient, ShownInstance } from './api-client.ts'
import type { ProgressLine } from './progress-line.ts'

/** Real seconds within which each part must come to its end. */
const patienceSeconds = 300
const everyMs = 150

/**
 * Follows one instance: `until` tells each new line of its history and waits for a state. It throws when the instance
 * ends another way, or takes too long.
 */
export const follow = (options: {
  api: ReturnType<typeof apiClient>
  id: string
  line: ProgressLine
  clock: () => string
}) => {
  const { api, id, line, clock } = options
  let told = 0
  const until = async (doing: string, reached: (seen: ShownInstance) => boolean): Promise<ShownInstance> => {
    for (const since = Date.now(); ; await new Promise((resolve) => setTimeout(resolve, everyMs))) {
      const seen = await api.show(id)
      for (const { at, message } of seen.events.slice(told)) line.say(`${at.slice(11, 16)}    ${message}`)
      told = Math.max(told, seen.events.length)
      if (reached(seen)) {
        line.clear()
        return seen
      }
      if (seen.status === 'terminated' || Date.now() - since > patienceSeconds * 1000) {
        throw new Error(
          `While ${doing}: ${seen.status}, ${seen.terminationMessage ?? seen.events.at(-1)?.message}`,
        )
      }
      line.wait(`${clock()}  ... ${seen.phase ?? seen.status}: ${doing}`)
    }
  }
  const untilSaid = (doing: string, start: string) =>
    until(doing, ({ events }) => events.some(({ message }) => message.startsWith(start)))
  return { until, untilSaid }
}
