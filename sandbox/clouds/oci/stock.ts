import { lifecycleOf } from './lifecycle.ts'
import type { SimulatedRegion } from './regions.ts'
import { isBareMetal, shapes } from './shapes.ts'
import type { CloudState, StockRow } from './state.ts'

/** Where a shape is looked for. */
export type Spot = { region: string; domain: number; shape: string }

export const rowOf = (state: CloudState, spot: Spot): StockRow | undefined =>
  state.stock.find((row) => isOf(row, spot))

/** How many more the service limits allow. */
export const freeLimit = (state: CloudState, row: StockRow, now: number): number =>
  row.limit - rented(state, row, now).length

/** How many hosts are free; what is rented preemptible takes none of the others. */
export const freeHosts = (state: CloudState, row: StockRow, kind: 'onDemand' | 'preemptible', now: number) =>
  row[kind] -
  rented(state, row, now).filter(({ preemptible }) => preemptible === (kind === 'preemptible')).length

const rented = (state: CloudState, spot: Spot, now: number) =>
  state.instances.filter((instance) => isOf(instance, spot) && lifecycleOf(instance, now) !== 'TERMINATED')

const isOf = (one: Spot, other: Spot) =>
  one.region === other.region && one.domain === other.domain && one.shape === other.shape

/** Every shape in every domain, in numbers that are the sandbox's own. */
export const defaultStock = (regions: SimulatedRegion[]): StockRow[] =>
  regions.flatMap(({ name: region, domains }) =>
    Array.from({ length: domains }, (_, n) => n + 1).flatMap((domain) =>
      Object.entries(shapes).map(([shape, { preemptible }]) => ({
        region,
        domain,
        shape,
        limit: isBareMetal(shape) ? 2 : 8,
        onDemand: isBareMetal(shape) ? 2 : 8,
        preemptible: preemptible ? 4 : 0,
      })),
    ),
  )
