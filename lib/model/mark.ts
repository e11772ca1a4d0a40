/** What stands on a rented machine: for which Berth, which instance, and by which of its launches it was rented. */
export type Mark = { owner: string; instanceId: string; attempt: number }

export const formatMark = ({ owner, instanceId, attempt }: Mark): string =>
  `berth:${owner}:${instanceId}:${attempt}`

/** Reads a mark, or nothing where a text is not wholly one: by it machines are given back. */
export const parseMark = (text: string | undefined): Mark | undefined => {
  const [, owner, instanceId, attempt] =
    /^berth:([0-9a-z]+):(i-[0-9a-f]{12}):([1-9]\d{0,5})$/.exec(text ?? '') ?? []
  if (owner === undefined || instanceId === undefined || attempt === undefined) return undefined
  return { owner, instanceId, attempt: Number(attempt) }
}
