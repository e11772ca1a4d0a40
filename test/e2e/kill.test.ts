import { afterEach, beforeEach, expect, test } from 'vitest'
import { localServer, type Shown } from '../support/process.ts'

/** Ten minutes, the time that a VM has to come up, are ten seconds. */
let server: ReturnType<typeof localServer>
beforeEach(() => {
  server = localServer(60)
})
afterEach(async () => {
  await server.signal('SIGTERM')
  server.clean()
})

const stages = [
  'pending',
  'launching',
  'booting',
  'bootstrapping',
  'verifying',
  'busy',
  'terminating',
  'terminated',
]
const stageOf = ({ phase, status }: Shown) => stages.indexOf(phase ?? status)

/** Waits until an instance has come as far as a stage; a short one may be over by the time it is looked at. */
const until = (id: string, stage: string) =>
  expect
    .poll(async () => stageOf(await server.show(id)), { timeout: 60_000, interval: 10 })
    .toBeGreaterThanOrEqual(stages.indexOf(stage))

test('killed at each stage and started again, every instance goes on to its end, and nothing is rented twice', async () => {
  await server.start()
  const body = { gpu: 'MI300X:1', maxDuration: '8m', idleDuration: 'off' }
  const rent = (key: string) => server.rent(body, key)
  const ids = new Set<string>()

  for (const stage of stages.slice(0, -1)) {
    const { id } = await rent(stage)
    ids.add(id)
    await until(id, stage)
    await server.signal('SIGKILL')
    await server.start()
    expect((await rent(stage)).id).toBe(id)
  }

  await expect.poll(async () => (await server.live()).length, { timeout: 120_000, interval: 250 }).toBe(0)
  const ended = await server.ended()
  const rentals = server.rentals()
  expect(ended.map(({ id }) => id).sort()).toEqual([...ids].sort())
  expect(ended.map(({ terminationReason }) => terminationReason)).toEqual(ended.map(() => 'max_duration'))
  expect(rentals.map(({ description }) => description.split(':')[2]).sort()).toEqual([...ids].sort())
  expect(rentals.filter(({ endedAt }) => endedAt === null)).toEqual([])
}, 240_000)

test('a second server on the same folder is refused, and says so', async () => {
  await server.start()
  const second = localServer(60, server.data)
  await expect(second.start()).rejects.toThrow('Another Berth runs on this data folder')
}, 60_000)
