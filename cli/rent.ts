import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { type ShownInstance, type ShownOffer, shownOffers } from './answers.ts'
import { openApi } from './api.ts'
import { askFirst, mustBeAsked } from './ask.ts'
import { exitCodes, Failure } from './failure.ts'
import { followUntilReady } from './follow.ts'
import { printOffers, queryOf, whyMissing, wider } from './offer.ts'
import { printer } from './print.ts'
import { type RentalRequest, rentalRequest } from './rental-request.ts'
import { sendOnce } from './send-once.ts'
import { keyLine } from './ssh-keys.ts'
import type { Work } from './surroundings.ts'
import { dollars, minutesInWords, moment } from './words.ts'

const options = z.object({
  yes: z.boolean().default(false),
  detach: z.boolean().default(false),
  idempotencyKey: z.string().optional(),
  json: z.boolean().default(false),
})

const nothing = 'Nothing was rented.'
/** So many offers are shown before the question. */
const mostShown = 3

/** `berth rent` */
export const rent: Work = async (at, { options: written }) => {
  const { yes, detach, idempotencyKey, json } = options.parse(written)
  const request = rentalRequest(at, written)
  if (!yes) mustBeAsked(at, nothing)
  const api = openApi(at, written)
  const print = printer(at)
  const notes = printer({ out: at.err, err: at.err })

  let question = 'Rent it?'
  // A request that may have been sent before gets what it got then, whatever is on offer now.
  if (idempotencyKey === undefined) {
    const { value } = await api.call(shownOffers, 'GET', `/offers?${queryOf(request.query)}`)
    const offers = value.offers.filter(request.suits)
    for (const error of value.errors) print.note(whyMissing(error, offers))
    const [best] = offers
    if (!best) throw new Failure('nothingFound', `No offer fits. ${nothing}`, [wider])
    printOffers(notes, offers.slice(0, mostShown))
    if (offers.length > mostShown) print.note(`and ${offers.length - mostShown} more`)
    question =
      best.instanceId === undefined
        ? `Rent ${best.instanceType} for ${dollars(best.pricePerHour)} an hour?`
        : `Take ${best.instanceType}, which is here already?`
    for (const line of whatItCosts(best, offers, request)) print.note(line)
  }
  if (!yes) await askFirst(at, question, nothing)

  const key = idempotencyKey ?? `berth-cli-${randomUUID()}`
  let interrupted = false
  let sent: ShownInstance | undefined
  const taken = at.onInterrupt(() => {
    if (sent === undefined) {
      print.note('\nThe request may have arrived, and may have rented something. See: berth ps')
      print.note(`The same command with --idempotency-key ${key} goes on with it, and never rents twice.`)
    } else if (interrupted) print.note(goesOn(sent).message)
    // The first Ctrl-C lets the look that is under way end; while the request is, there is nothing to wait for.
    if (sent === undefined || interrupted) at.endNow(exitCodes.interrupted)
    interrupted = true
  })
  try {
    const answer = await sendOnce(at, api, { body: request.body, key }, print)
    sent = answer.value
    print.note(`${sent.name} (${sent.id})`)
    if (detach) return json ? print.json(answer.raw) : print.tell(`See how it goes: berth show ${sent.name}`)
    const last = await followUntilReady(at, api, sent.id, () => interrupted)
    if (!last) throw goesOn(sent)
    if (json) print.json(last.raw)
    if (last.value.status === 'terminating' || last.value.status === 'terminated')
      throw cameToNothing(last.value)
    if (!json) for (const line of whatNow(last.value)) print.tell(line)
  } finally {
    taken()
  }
}

const whatItCosts = (best: ShownOffer, offers: ShownOffer[], request: RentalRequest): string[] => {
  if (best.instanceId !== undefined) {
    return [
      '',
      `The first is here already, idle: taking it charges nothing at once. It goes on costing ${dollars(best.pricePerHour)} an hour once nothing of it is prepaid.`,
      keyLine(request.keysFrom, noKey),
    ]
  }
  const minutes = best.minimumReservationMinutes
  const charge =
    minutes > 0
      ? `is charged at once, and prepays ${minutesInWords(minutes)}`
      : 'is charged at least, once it runs'
  const minimum =
    best.minimumCharge > 0 ? `${dollars(best.minimumCharge)} ${charge}.` : 'There is no minimum.'
  const prepaid = minutes > 0 ? ', not before the prepaid time is over' : ''
  const idle =
    request.idleDuration === 'off'
      ? 'It is kept until you stop it, however idle.'
      : `It is given back when idle for ${request.idleDuration}${prepaid}.`
  return [
    '',
    `The first costs ${dollars(best.pricePerHour)} an hour. ${minimum} ${idle}`,
    ...(offers.length > 1 ? [worst(offers)] : []),
    keyLine(request.keysFrom, noKey),
  ]
}

const noKey = 'No SSH key is given, so nobody will be able to enter it: --ssh-key FILE'

/** A yes is one to whatever fits: what that may come to is said. */
const worst = (offers: ShownOffer[]): string => {
  const price = Math.max(...offers.map(({ pricePerHour }) => pricePerHour))
  const minimum = Math.max(...offers.map(({ minimumCharge }) => minimumCharge))
  const atOnce = minimum > 0 ? `, and up to ${dollars(minimum)} at once` : ''
  return `If it can not be had, the next one that fits is rented, for up to ${dollars(price)} an hour${atOnce}; --max-price sets a limit.`
}

const goesOn = ({ name }: ShownInstance) =>
  new Failure('interrupted', `The rental of ${name} goes on, and costs money once there is a machine.`, [
    `See how it goes: berth show ${name}. Give it back: berth stop ${name}`,
  ])

const cameToNothing = (it: ShownInstance): Failure => {
  const money =
    it.startedAt === null
      ? 'Nothing was rented.'
      : `It has cost ${dollars(it.accruedCost)}${it.releaseAt ? `, and is given back at ${moment(it.releaseAt)}` : ''}.`
  const kind = it.terminationReason === 'no_offers' ? 'nothingFound' : 'notReady'
  return new Failure(kind, `${it.name} ended before it was ready (${it.terminationReason}).`, [
    ...(it.terminationMessage ? [it.terminationMessage] : []),
    `${money} See: berth show ${it.id}`,
  ])
}

const whatNow = (it: ShownInstance): string[] => [
  `${it.name} is ready: ${it.instanceType} at ${dollars(it.pricePerHour)} an hour${it.reservedUntil ? `, prepaid until ${moment(it.reservedUntil)}` : ''}.`,
  `Enter it: berth ssh ${it.name}. Give it back: berth stop ${it.name}`,
]
