import * as z from 'zod'
import type { ShownInstance } from './answers.ts'
import { openApi } from './api.ts'
import { listInstances } from './find-instance.ts'
import { printer } from './print.ts'
import { statusInWords } from './status-words.ts'
import type { Work } from './surroundings.ts'
import { dollars, prepaidUntil, shortMoment } from './words.ts'

const options = z.object({
  all: z.boolean().default(false),
  status: z.string().optional(),
  json: z.boolean().default(false),
})

/** `berth ps` */
export const ps: Work = async (at, { options: written }) => {
  const { all, status, json } = options.parse(written)
  const api = openApi(at, written)
  const live = await listInstances(api, status, status === 'terminated' ? 1 : undefined)
  const gone = all && status === undefined ? await listInstances(api, 'terminated', 1) : undefined
  const print = printer(at)
  if (json) return print.json({ instances: [...live.raw, ...(gone?.raw ?? [])] })
  const shown = [...live.instances, ...(gone?.instances ?? [])]
  if (shown.length === 0) {
    return print.note(
      status === undefined ? 'Nothing is rented. See: berth offer' : `No instance is ${status}.`,
    )
  }
  print.table(
    [
      'NAME',
      'BACKEND',
      'INSTANCE TYPE',
      'PRICE',
      'STATUS',
      'HOLDER',
      'COST',
      'PREPAID UNTIL (UTC)',
      'CREATED (UTC)',
    ],
    shown.map((each) => [
      each.name,
      each.backend === null ? '-' : `${each.backend} (${each.region})`,
      each.instanceType ?? '-',
      dollars(each.pricePerHour),
      statusInWords(print.styled, each),
      each.holder ?? '-',
      dollars(each.accruedCost),
      paidUntil(each, at.now()),
      shortMoment(each.createdAt),
    ]),
  )
  if (live.more || gone?.more) print.note('Only the 200 that ended last are shown.')
}

const paidUntil = (it: ShownInstance, now: number): string => {
  const until = it.status === 'terminated' ? undefined : prepaidUntil(it, now)
  return until === undefined ? '-' : shortMoment(until)
}
