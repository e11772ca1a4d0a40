/** The one source of time. Handed in everywhere, so that a test or a sandbox can make it run as it likes. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
}
