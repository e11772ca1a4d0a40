import { spawn } from 'node:child_process'
import { pathToFileURL } from 'node:url'

/** As Lambda does: imports the module, calls its handler once, and hands the answer over. */
const runner = `
  const ahead = Number(process.env.AHEAD_MS)
  const RealDate = Date
  if (ahead > 0) globalThis.Date = class extends RealDate {
    constructor(...given) { given.length > 0 ? super(...given) : super(RealDate.now() + ahead) }
    static now() { return RealDate.now() + ahead }
  }
  const { handler } = await import(process.env.BUNDLE)
  const answer = await handler(JSON.parse(process.env.EVENT), { getRemainingTimeInMillis: () => 100_000 })
  process.send(answer ?? null, () => process.exit(0))`

/**
 * Starts one bundle in a process of its own, whose clock is `aheadMs` ahead. Rejects when there is no answer.
 */
export const runBundle = (
  file: string,
  event: unknown,
  environment: Record<string, string>,
  aheadMs = 0,
): Promise<{ ms: number; answer: unknown }> =>
  new Promise((resolve, reject) => {
    const start = performance.now()
    const env = {
      ...environment,
      AHEAD_MS: String(aheadMs),
      BUNDLE: pathToFileURL(file).href,
      EVENT: JSON.stringify(event),
    }
    const child = spawn(process.execPath, ['--input-type=module', '--eval', runner], {
      env,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    let complaint = ''
    let answered: { ms: number; answer: unknown } | undefined
    child.stderr?.on('data', (chunk) => {
      complaint += chunk
    })
    child.on('message', (answer) => {
      answered = { ms: performance.now() - start, answer }
    })
    child.on('error', reject)
    child.on('close', () =>
      answered ? resolve(answered) : reject(new Error(`${file} gave no answer: ${complaint.slice(-1000)}`)),
    )
  })
