/** Everything that a command touches of the world, handed in. */
export type Surroundings = {
  /** What was asked for, to be read by programs as well. */
  out: Output
  /** What a person should know beside it: progress, notes, questions, errors. */
  err: Output
  in: NodeJS.ReadableStream & { isTTY?: boolean }
  env: NodeJS.ProcessEnv
  /** The folder that paths count from. */
  folder: string
  home: string
  /** Milliseconds since 1970. */
  now: () => number
  fetch: typeof fetch
  pause: (ms: number) => Promise<void>
  /** Calls back at Ctrl-C, in place of the end; the answer takes that back. */
  onInterrupt: (callback: () => void) => () => void
  /** Ends the process at once. */
  endNow: (exitCode: number) => void
}

export type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number }

/** What was written behind a command's name. `end` takes an exit code other than 0. */
type Given = {
  arguments: string[]
  options: Record<string, unknown>
  end: (exitCode: number) => void
}

/** The work of one command. Throws a Failure where it comes to nothing. */
export type Work = (at: Surroundings, given: Given) => Promise<void>
