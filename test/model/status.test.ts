import { expect, test } from 'vitest'
import { mayBecome, status } from '../../lib/model/status.ts'

test('the status machine has these steps and no others', () => {
  const steps = status.options.flatMap((from) =>
    status.options.filter((to) => to !== from && mayBecome(from, to)).map((to) => `${from} -> ${to}`),
  )
  expect(steps).toEqual([
    'pending -> provisioning',
    'pending -> terminating',
    'provisioning -> idle',
    'provisioning -> busy',
    'provisioning -> terminating',
    'idle -> busy',
    'idle -> terminating',
    'busy -> idle',
    'busy -> terminating',
    'terminating -> terminated',
  ])
})

test('terminated is final: not even staying is a change', () => {
  expect(mayBecome('terminated', 'terminated')).toBe(false)
  expect(mayBecome('busy', 'busy')).toBe(true)
})
