import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { LedgerRow } from '../support/ledgers.ts'
import { localServer, NotAnswered } from '../support/process.ts'
import { type Errand, type Kill, type Moment, planOf } from './kill-plan.ts'

type Server = ReturnType<typeof localServer>

const seed = Number(process.env.BERTH_KILL_SEED ?? 1)
/** Slow enough that a search, which ends after half an hour, outlasts the kills on a busy machine. */
const speed = 20
/** When nothing is killed any more: a launch that a kill has cut off is unclear for ten minutes. */
const speedAfterKills = 60
/** For the prepaid hours that are left, when nothing has to come up any more. */
const speedAtTheEnd = 600
/** A process that has no more to say is killed after so many real milliseconds. */
const quietMs = 2000

test.concurrent(`killed 20 times at random moments (BERTH_KILL_SEED=${seed}), every instance has one machine at most, and none is left`, async ({
  onTestFailed,
}) => {
  const server = localServer()
  onTestFailed(() => console.error(server.output()))
  try {
    const { errands, kills } = planOf(seed)
    let killed = 0
    const at = async ({ kills, ms }: Moment) => {
      while (killed < kills) await pause(20)
      await pause(ms)
    }
    const renters = Promise.all(errands.map((errand) => goOn(server, errand, at)))
    for (const kill of kills) {
      await startAndKill(server, kill)
      killed += 1
    }
    await server.start(speedAfterKills)
    const ids = await renters
    await untilAll(server, ({ status }) => status !== 'pending' && status !== 'provisioning')
    await server.signal('SIGTERM')
    await server.start(speedAtTheEnd)
    await untilAll(server, () => false)

    const forced = new Set(errands.flatMap(({ ending }, n) => (ending === 'force' ? [ids[n]] : [])))
    const rentals = server.ledgers()
    expect(new Set(ids).size).toBe(errands.length)
    expect((await server.ended()).map(({ id }) => id).sort()).toEqual([...ids].sort())
    // Fewer than requests: some end before they have a machine, or find none while a launch is unclear.
    expect(rentals.length).toBeGreaterThan(4)
    expect(rentals.filter(({ endedAt }) => endedAt === null)).toEqual([])
    expect(rentals.filter((rental) => !ids.includes(instanceOf(rental)))).toEqual([])
    expect(ids.flatMap((id) => overlaps(rentals.filter((rental) => instanceOf(rental) === id)))).toEqual([])
    expect(rentals.filter((rental) => isEarly(rental) && !forced.has(instanceOf(rental)))).toEqual([])
  } finally {
    await server.end()
  }
}, 480_000)

test.concurrent('a second server on the same folder is refused, and says so', async () => {
  const server = localServer()
  try {
    await server.start(speed)
    await expect(localServer(server.data).start(speed)).rejects.toThrow(
      'Another Berth runs on this data folder',
    )
  } finally {
    await server.end()
  }
}, 60_000)

/** A renter's whole errand. What was not answered is asked again, and is to give the same instance. */
const goOn = async (
  server: Server,
  { key, body, asksAt, ending, endsAt }: Errand,
  at: (moment: Moment) => Promise<void>,
): Promise<string> => {
  await at(asksAt)
  const { id } = await insist(() => server.rent(body, key))
  await at(endsAt)
  expect((await insist(() => server.rent(body, key))).id).toBe(id)
  // 409: it has no claim any more, by a release whose answer was lost or by another rule.
  if (ending === 'release') expect([200, 409]).toContain(await insist(() => server.release(id)))
  if (ending === 'delete') expect(await insist(() => server.remove(id, false))).toBe(202)
  if (ending === 'force') expect(await insist(() => server.remove(id, true))).toBe(202)
  return id
}

const insist = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof NotAnswered)) throw error
      await pause(50)
    }
  }
}

const startAndKill = async (server: Server, kill: Kill) => {
  const ready = server.start(speed)
  if ('afterMs' in kill) {
    ready.catch(() => {})
    await pause(kill.afterMs)
  } else {
    await ready
    const enough = server.output().split('\n').length + kill.afterLines
    const since = performance.now()
    while (server.output().split('\n').length < enough && performance.now() - since < quietMs) await pause(20)
  }
  expect(await server.signal('SIGKILL'), 'the process had ended by itself').toBe(true)
}

/** Waits until every instance that lives is so; the test's own time is the limit. */
const untilAll = async (server: Server, isSo: (instance: { status: string }) => boolean) => {
  while (!(await server.live()).every(isSo)) await pause(400)
}

const instanceOf = ({ mark }: LedgerRow) => mark.split(':')[2] ?? ''

/** The pairs of an instance's machines that were rented at the same time. */
const overlaps = (rentals: LedgerRow[]): LedgerRow[][] =>
  rentals.flatMap((one, n) =>
    rentals
      .slice(n + 1)
      .filter((other) => isBefore(one, other) === isBefore(other, one))
      .map((other) => [one, other]),
  )

const isBefore = (one: LedgerRow, other: LedgerRow) => one.endedAt !== null && one.endedAt <= other.startedAt

const isEarly = ({ startedAt, endedAt, minimumMinutes }: LedgerRow) =>
  endedAt !== null && endedAt < startedAt + minimumMinutes * 60_000
