import type { Cents } from '../../model/money.ts'
import type { ProductRow, ShapeRow } from './feed-rows.ts'

/** US dollars per unit and hour of one product, or why there is no such price. */
export type Priced = { dollars: number } | { why: string }

/** The price of each product, by its part number. A row that has none takes nothing from another of its number. */
export const pricesOf = (rows: ProductRow[]): Map<string, Priced> => {
  const prices = new Map<string, Priced>()
  for (const [partNumber, own] of Map.groupBy(rows, (row) => row.partNumber)) {
    const priced = own.map(productPrice)
    const dollars = new Set(priced.flatMap((each) => ('dollars' in each ? each.dollars : [])))
    const [first] = priced.toSorted((a, b) => Number('why' in a) - Number('why' in b))
    const why = `${partNumber} is listed with ${dollars.size} prices`
    if (first) prices.set(partNumber, dollars.size > 1 ? { why } : first)
  }
  return prices
}

/**
 * What a whole machine costs in an hour, in cents; a part of a cent counts as a whole one. The "ocpu" product of a
 * GPU shape is priced per GPU, that of another per OCPU, beside memory per GB.
 */
export const priceOf = (
  {
    products,
    ocpus,
    gpuCount,
  }: { products: ShapeRow['products']; ocpus: number; gpuCount: number | undefined },
  prices: Map<string, Priced>,
): { cents: Cents; micros: number } | { why: string } => {
  const kinds = products.map(({ type }) => type.value)
  // What is not understood may cost something: a price must never be announced lower than it comes out.
  const odd = kinds.find((kind) => kind !== 'ocpu' && (kind !== 'memory' || gpuCount !== undefined))
  if (odd !== undefined) return { why: `it is also billed by "${odd}", which is not understood` }
  if (new Set(kinds).size !== kinds.length) return { why: 'it is billed twice by the same thing' }
  let dollars = 0
  for (const { partNumber, qty, type } of products) {
    const price = prices.get(partNumber) ?? {
      why: `the price of its product ${partNumber} is not in the feed`,
    }
    if ('why' in price) return price
    const units = type.value === 'memory' ? qty : (gpuCount ?? ocpus)
    if (!units || units < 0) return { why: `the feed does not say how much of ${partNumber} it needs` }
    dollars += price.dollars * units
  }
  return { cents: toCents(dollars), micros: toMicros(dollars) }
}

/** Half price, rounded like every price. Source: Oracle's price list. */
export const preemptiblePrice = (price: Cents): Cents => Math.ceil(price / 2)

const productPrice = ({
  partNumber,
  billingModel,
  pricetype,
  currencyCodeLocalizations,
}: ProductRow): Priced => {
  if (billingModel !== 'UCM')
    return { why: `${partNumber} is billed by ${billingModel}, not by universal credits` }
  if (pricetype !== 'HOUR') return { why: `${partNumber} is priced by ${pricetype}, not by the hour` }
  const currency = currencyCodeLocalizations.find(({ currencyCode }) => currencyCode === 'USD')
  if (!currency) return { why: `${partNumber} has no price in US dollars` }
  const [price, ...more] = currency.prices
  if (!price || more.length > 0) return { why: `${partNumber} has ${currency.prices.length} prices, not one` }
  if (price.model !== 'PAY_AS_YOU_GO') return { why: `${partNumber} has no pay-as-you-go price` }
  if (!(price.value > 0)) return { why: `${partNumber} has the price ${price.value}` }
  return { dollars: price.value }
}

/** Through a rounded decimal, since 3.05 times 8 is a little more than 24.4 to a computer. */
const toMicros = (dollars: number): number => Math.ceil(Number((dollars * 1_000_000).toFixed(3)))

const toCents = (dollars: number): Cents => Math.ceil(Number((dollars * 100).toFixed(6)))
