import * as z from 'zod'

/** What a machine was doing when it was looked at. */
const activity = z.object({
  /** shim tasks whose status is not `terminated`. */
  runningTasks: z.int().nonnegative(),
  /** SSH sessions other than Berth's own. */
  sshSessions: z.int().nonnegative(),
  /** The busiest GPU, in percent; undefined where the machine can't say, which speaks neither way. */
  gpuPercent: z.number().optional(),
})
export type Activity = z.infer<typeof activity>

/** Why a machine counts as active, in words, or undefined when it does not. `gpuPercent` is the threshold. */
export const activityOf = (seen: Activity, gpuPercent: number): string | undefined => {
  if (seen.runningTasks > 0)
    return `${seen.runningTasks} running ${seen.runningTasks === 1 ? 'task' : 'tasks'}`
  if (seen.sshSessions > 0)
    return `${seen.sshSessions} open SSH ${seen.sshSessions === 1 ? 'session' : 'sessions'}`
  if (seen.gpuPercent !== undefined && seen.gpuPercent > gpuPercent) return `a GPU ${seen.gpuPercent} % busy`
  return undefined
}
