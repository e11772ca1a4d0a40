/** Chance that falls the same way for the same seed. */
export const createDice = (seed: number) => {
  let state = seed >>> 0
  /** From 0 to 1, by mulberry32 (Tommy Ettinger, public domain). */
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    between: (from: number, to: number) => from + Math.floor(next() * (to - from)),
    shuffled: <Item>(items: readonly Item[]): Item[] =>
      items
        .map((item) => ({ item, rank: next() }))
        .sort((a, b) => a.rank - b.rank)
        .map(({ item }) => item),
  }
}
