import * as z from 'zod'

/** An IPv4 block with no host bits set. */
export const cidr = z
  .cidrv4()
  .refine((text) => rangeOf(text).first % rangeOf(text).size === 0, 'must have no host bits set')

/** Whether the second block lies in the first. */
export const contains = (outer: string, inner: string): boolean => {
  const [all, part] = [rangeOf(outer), rangeOf(inner)]
  return all.first <= part.first && part.first + part.size <= all.first + all.size
}

/** Blocks overlap only where one lies in the other. */
export const overlap = (one: string, other: string): boolean => contains(one, other) || contains(other, one)

const rangeOf = (text: string) => {
  const [address = '', bits] = text.split('/')
  const first = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  return { first, size: 2 ** (32 - Number(bits)) }
}
