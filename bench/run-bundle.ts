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
  const answer = await handler(JSON.parse(process.env.EVENT), {
    awsRequestId: 'request-1', functionName: 'berth', getRemainingTimeInMillis: () => 100_000,
  })
  process.send(answer ?? null, () => process.exit(0))`

/**
 * Starts one bundle in a process of its own, whose clock is `aheadMs` ahead; `output` is what it logged. Rejects when
 * there is no answer.
 */
export const runBundle = (
  file: string,
  event: unknown,
  environment: Record<string, string>,
  aheadMs = 0,
): Promise<{ ms: number; answer: unknown; output: string }> =>
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
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    let complaint = ''
    let answered: { ms: number; answer: unknown } | undefined
    child.stderr?.on('data', (chunk) => {
      complaint += chunk
    })
    let output = ''
    child.stdout?.on('data', (chunk) => {
      output += chunk
    })
    child.on('message', (answer) => {
      answered = { ms: performance.now() - start, answer }
    })
    child.on('error', reject)
    child.on('close', () =>
      answered
        ? resolve({ ...answered, output })
        : reject(new Error(`${file} gave no answer: ${complaint.slice(-1000)}`)),
    )
  })
