import * as z from 'zod'
import { reservationsPage } from './answers.ts'
import { openApi } from './api.ts'
import { printer } from './print.ts'
import type { Work } from './surroundings.ts'
import { dollars, moment } from './words.ts'

const options = z.object({ json: z.boolean().default(false) })
const rawPage = z.object({ reservations: z.array(z.unknown()) })

/** `berth reservations` */
export const reservations: Work = async (at, { options: written }) => {
  const api = openApi(at, written)
  const found: z.infer<typeof reservationsPage>['reservations'] = []
  const raw: unknown[] = []
  let cursor: string | undefined
  do {
    const query = new URLSearchParams({ limit: '200', ...(cursor && { cursor }) })
    const page = await api.call(reservationsPage, 'GET', `/reservations?${query}`)
    found.push(...page.value.reservations)
    raw.push(...rawPage.parse(page.raw).reservations)
    cursor = page.value.cursor
  } while (cursor !== undefined)
  const print = printer(at)
  if (options.parse(written).json) return print.json({ reservations: raw })
  if (found.length === 0) return print.note('Nothing is prepaid, and nothing was in the last month.')
  print.table(
    ['INSTANCE', 'BACKEND', 'INSTANCE TYPE', 'PRICE', 'CHARGED', 'FROM', 'UNTIL', 'STATE'],
    found.map((each) => [
      each.instanceId,
      each.backend ?? '-',
      each.instanceType ?? '-',
      dollars(each.pricePerHour),
      dollars(each.minimumCharge),
      moment(each.startedAt),
      moment(each.reservedUntil),
      each.state ?? '-',
    ]),
  )
}
