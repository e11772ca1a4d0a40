/** A request to a simulated cloud, as it came in; header names in lower case. */
export type CloudRequest = {
  method: string
  /** With its query. */
  path: string
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

/** `cut`: the connection ends without an answer. */
export type CloudAnswer =
  | 'cut'
  | { status: number; headers: Record<string, string>; body?: string | undefined }

/** Who asked: one that left gets no answer, and `stopped` ends every wait when the cloud is stopped. */
export type Caller = { hasLeft(): boolean; stopped: AbortSignal }

/** The front of a simulated cloud, whatever the requests come by: routes, keys or signatures, faults. */
export type Gateway = (request: CloudRequest, caller: Caller) => Promise<CloudAnswer>

export const parseJson = (text: Buffer): unknown => {
  if (text.length === 0) return undefined
  try {
    return JSON.parse(text.toString('utf8'))
  } catch {
    return undefined
  }
}
