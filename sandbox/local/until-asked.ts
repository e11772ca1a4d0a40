/**
 * Resolves when the process is asked to end: SIGINT, SIGTERM, or the end of the npm that started it, which would
 * otherwise leave this process behind on its port.
 */
export const untilAsked = (): Promise<void> =>
  new Promise((resolve) => {
    const startedBy = process.ppid
    const isChildOfNpm = process.env.npm_lifecycle_event !== undefined
    const watch = isChildOfNpm
      ? setInterval(() => {
          if (process.ppid !== startedBy) end()
        }, 200)
      : undefined
    const end = () => {
      clearInterval(watch)
      resolve()
    }
    process.once('SIGINT', end)
    process.once('SIGTERM', end)
  })
