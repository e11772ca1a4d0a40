import * as z from 'zod'
import { checkApi } from './check-api.ts'
import { checkHere } from './check-here.ts'
import { Failure } from './failure.ts'
import { printer } from './print.ts'
import type { Work } from './surroundings.ts'

/** One thing that was looked at. `mend` says what to do where it is not as it should be. */
export type Finding = {
  what: string
  state: 'ok' | 'warning' | 'wrong'
  found: string
  mend?: string | undefined
}

const options = z.object({ config: z.string().optional(), json: z.boolean().default(false) })

/** `berth doctor` */
export const doctor: Work = async (at, { options: written }) => {
  const { config, json } = options.parse(written)
  const print = printer(at)
  const findings: Finding[] = []
  const show = (more: Finding[]) => {
    findings.push(...more)
    if (!json) for (const finding of more) for (const line of linesOf(finding, print.styled)) print.tell(line)
  }
  show(await checkHere(at))
  if (config !== undefined) {
    const { checkSettings } = await import('./check-settings.ts')
    for await (const found of checkSettings(at, config)) show([found])
  }
  for await (const found of checkApi(at, written, config !== undefined)) show([found])
  const wrong = findings.filter(({ state }) => state === 'wrong').length
  if (json) print.json({ ok: wrong === 0, findings })
  if (wrong > 0) throw new Failure('failed', `${wrong} ${wrong === 1 ? 'thing is' : 'things are'} wrong.`)
  if (!json) print.tell('Nothing is wrong.')
}

const marks = { ok: ['green', 'ok'], warning: ['yellow', 'look'], wrong: ['red', 'WRONG'] } as const

const linesOf = (
  { what, state, found, mend }: Finding,
  styled: ReturnType<typeof printer>['styled'],
): string[] => {
  const [colour, word] = marks[state]
  const line = `${styled(colour, word.padEnd(7))}${what}: ${found}`
  return mend === undefined ? [line] : [line, `       ${styled('bold', 'Do:')} ${mend}`]
}
