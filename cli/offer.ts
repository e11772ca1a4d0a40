import * as z from 'zod'
import { offersQuery } from '../lib/model/request.ts'
import { type ShownError, type ShownOffer, shownOffers } from './answers.ts'
import { openApi } from './api.ts'
import { Failure } from './failure.ts'
import { printer } from './print.ts'
import type { Work } from './surroundings.ts'
import { checked, given } from './usage.ts'
import { dollars, minutesInWords, resourcesInWords } from './words.ts'

export const machineOptions = z.object({
  gpu: z.string().optional(),
  cpu: z.string().optional(),
  memory: z.string().optional(),
  disk: z.string().optional(),
  spot: z.boolean().optional(),
  onDemand: z.boolean().optional(),
  maxPrice: z.string().optional(),
})
const options = machineOptions.extend({
  backend: z.string().optional(),
  region: z.string().optional(),
  instanceType: z.string().optional(),
  json: z.boolean().default(false),
})

/** `berth offer` */
export const offer: Work = async (at, { options: written }) => {
  const { json, spot, onDemand, ...wanted } = options.parse(written)
  const query = given({ ...wanted, spotPolicy: spotPolicyOf({ spot, onDemand }) })
  checked(offersQuery, query)
  const { value, raw } = await openApi(at, written).call(shownOffers, 'GET', `/offers?${queryOf(query)}`)
  const print = printer(at)
  if (json) print.json(raw)
  else if (value.offers.length > 0) printOffers(print, value.offers)
  if (!json) for (const error of value.errors) print.note(whyMissing(error, value.offers))
  if (value.offers.length === 0) throw new Failure('nothingFound', 'No offer fits.', [wider])
}

export const wider = 'Ask for less, or see everything there is: berth offer'

export const spotPolicyOf = (given: { spot?: boolean | undefined; onDemand?: boolean | undefined }) => {
  if (given.spot) return 'spot'
  return given.onDemand ? 'on-demand' : undefined
}

export const queryOf = (fields: Record<string, unknown>): string =>
  new URLSearchParams(
    Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()

/** dstack's table, with what has to be paid at least where there is such an offer. */
export const printOffers = (print: ReturnType<typeof printer>, offers: ShownOffer[]) => {
  const withMinimum = offers.some(({ minimumCharge }) => minimumCharge > 0)
  const withState = offers.some((each) => stateOf(each) !== '')
  const head = ['#', 'BACKEND', 'RESOURCES', 'INSTANCE TYPE', 'PRICE']
  print.table(
    [...head, ...(withMinimum ? ['MINIMUM'] : []), ...(withState ? [''] : [])],
    offers.map((each, index) => [
      String(index + 1),
      `${each.backend} (${each.region})`,
      resourcesInWords(each.resources),
      each.instanceType,
      dollars(each.pricePerHour),
      ...(withMinimum ? [minimumOf(each)] : []),
      ...(withState ? [print.styled('gray', stateOf(each))] : []),
    ]),
  )
}

export const whyMissing = ({ backend, message }: ShownError, offers: { backend: string }[]): string =>
  offers.some((each) => each.backend === backend)
    ? `${backend}: ${message}`
    : `${backend} is missing here: ${message}`

/** What is charged however short the use: at once, with the time that it prepays, or once the machine runs. */
export const minimumOf = ({
  minimumCharge,
  minimumReservationMinutes: minutes,
}: Pick<ShownOffer, 'minimumCharge' | 'minimumReservationMinutes'>): string => {
  if (minimumCharge === 0) return '-'
  return `${dollars(minimumCharge)} (${minutes > 0 ? minutesInWords(minutes) : 'once it runs'})`
}

/** What dstack writes behind the price; what can simply be had says nothing. */
const stateOf = ({ availability, instanceId }: ShownOffer): string => {
  if (instanceId !== undefined) return `idle: ${instanceId}`
  return availability === 'available' || availability === 'unknown' ? '' : availability.replaceAll('_', ' ')
}
