import { createHash } from 'node:crypto'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

/** Chance that falls the same way for the same seed. */
export type Dice = {
  /** A whole number, both ends included. */
  int(least: number, most: number): number
  chance(probability: number): boolean
  pick<Item>(items: readonly [Item, ...Item[]]): Item
  hex(digits: number): string
  shuffled<Item>(items: readonly Item[]): Item[]
}

const million = 1_000_000

export const createDice = (seed: number): Dice => {
  // Small seeds alone would begin all runs alike.
  const generator = xoroshiro128plus(createHash('sha256').update(String(seed)).digest().readInt32LE())
  const int = (least: number, most: number) => uniformInt(generator, least, most)
  return {
    int,
    chance: (probability) => int(1, million) <= probability * million,
    pick: (items) => items[int(0, items.length - 1)] ?? items[0],
    shuffled: (items) =>
      items
        .map((item) => ({ item, rank: int(0, million) }))
        .sort((a, b) => a.rank - b.rank)
        .map(({ item }) => item),
    hex: (digits) => Array.from({ length: digits }, () => int(0, 15).toString(16)).join(''),
  }
}
