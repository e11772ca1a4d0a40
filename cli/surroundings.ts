/** Everything that a command touches of the world, handed in. */
export type Surroundings = {
  /** What was asked for, to be read by programs as well. */
  out: NodeJS.WriteStream
  /** What a person should know beside it: progress, notes, questions, errors. */
  err: NodeJS.WriteStream
  in: NodeJS.ReadStream
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
}

/** What was written behind a command's name. */
export type Given = { arguments: string[]; options: Record<string, unknown> }

/** The work of one command. */
export type Work = (at: Surroundings, given: Given) => Promise<void>
