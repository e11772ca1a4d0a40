/** How `berth` ends; see docs/cli.md. */
export const exitCodes = {
  done: 0,
  failed: 1,
  wrongUsage: 2,
  nothingFound: 3,
  notReady: 4,
  interrupted: 130,
} as const

export type FailureKind = Exclude<keyof typeof exitCodes, 'done'>

/** Ends the command with words for the person who called it. `more` are lines below them. */
export class Failure extends Error {
  readonly kind: FailureKind
  readonly more: string[]
  constructor(kind: FailureKind, message: string, more: string[] = []) {
    super(message)
    this.name = 'Failure'
    this.kind = kind
    this.more = more
  }
}
