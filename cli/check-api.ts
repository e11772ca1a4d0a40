import * as z from 'zod'
import { shownOffers } from './answers.ts'
import { type Api, Forbidden, openApi } from './api.ts'
import type { Finding } from './doctor.ts'
import { Failure } from './failure.ts'
import { offerFindings } from './offer-findings.ts'
import type { Surroundings } from './surroundings.ts'

/** Signatures of OCI are refused beyond five minutes. */
const wrongSkewMs = 300_000
const oddSkewMs = 60_000

/** What of a Berth can be checked with an API key. `optional`: without one there is nothing wrong. */
export const checkApi = async function* (
  at: Surroundings,
  options: unknown,
  optional: boolean,
): AsyncGenerator<Finding> {
  let api: Api
  try {
    api = openApi(at, options)
  } catch (error) {
    const { found, mend } = told(error)
    yield { what: 'API', state: optional ? 'warning' : 'wrong', found, mend }
    return
  }
  const before = at.now()
  try {
    const { date } = await api.call(z.object({ status: z.literal('ok') }), 'GET', '/health')
    yield { what: 'API', state: 'ok', found: `${api.access.url} answers (${at.now() - before} ms)` }
    if (date !== undefined) yield clock(date, before, at.now())
  } catch (error) {
    yield { what: 'API', state: 'wrong', ...told(error) }
    return
  }
  const key = await checkKey(api)
  yield key
  if (key.state === 'wrong') return
  try {
    const { value } = await api.call(shownOffers, 'GET', '/offers')
    yield* offerFindings(value.offers, value.errors)
  } catch (error) {
    yield { what: 'Offers', state: 'wrong', ...told(error) }
  }
}

/** The header has whole seconds. */
const clock = (date: number, sentAt: number, answeredAt: number): Finding => {
  const skew = Math.max(0, sentAt - (date + 1000), date - answeredAt)
  const found = skew < 2000 ? 'agrees with the API' : `differs from the API's by ${Math.round(skew / 1000)} s`
  if (skew < oddSkewMs) return { what: 'Clock', state: 'ok', found }
  const mend =
    'let this machine or that of the API take its time from the network (timedatectl set-ntp true); OCI refuses signatures that are five minutes off'
  return { what: 'Clock', state: skew > wrongSkewMs ? 'wrong' : 'warning', found, mend }
}

/** An id that no instance has: only an operator is told so, a viewer may not even ask. Nothing is done by it. */
const noInstance = 'i-000000000000'

const checkKey = async (api: Api): Promise<Finding> => {
  const what = 'API key'
  try {
    await api.call(z.unknown(), 'GET', '/instances?limit=1')
  } catch (error) {
    return { what, state: 'wrong', ...told(error) }
  }
  try {
    await api.call(z.unknown(), 'POST', `/instances/${noInstance}/release`, { body: {} })
  } catch (error) {
    if (error instanceof Failure && error.kind === 'nothingFound')
      return { what, state: 'ok', found: 'good, of an operator' }
    if (error instanceof Forbidden) return ofViewer
    const { found, mend } = told(error)
    return { what, state: 'warning', found: `good, of a role that is not known: ${found}`, mend }
  }
  return { what, state: 'warning', found: `good, of a role that is not known: ${noInstance} exists` }
}

const ofViewer: Finding = {
  what: 'API key',
  state: 'warning',
  found: 'good, of a viewer: it may look, not rent or give back',
  mend: 'if that is too little: berth keys create --role operator',
}

const told = (error: unknown): Pick<Finding, 'found' | 'mend'> => ({
  found: error instanceof Error ? error.message : String(error),
  mend: error instanceof Failure && error.more.length > 0 ? error.more.join(' ') : undefined,
})
