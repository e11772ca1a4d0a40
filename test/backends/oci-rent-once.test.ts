import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { frankfurt, intend, type OciStage, startOciStage } from './oci-stage.ts'

const second = 1000
const minute = 60_000
const shape = 'VM.GPU.A10.1'

let stage: OciStage
beforeEach(async () => {
  stage = await startOciStage()
})
afterEach(() => stage.cloud.stop())

const launches = () => stage.cloud.requests.filter(({ operation }) => operation === 'launchInstance')

describe('a launch that was long in preparation', () => {
  /** A backend whose network takes so long to be found or made. */
  const slowBy = (ms: number) =>
    stage.another(
      {},
      {
        fetch: async (url, init) => {
          if (String(url).includes('/vcns?')) stage.clock.advance(ms)
          return fetch(url, init)
        },
      },
    )

  it('is not sent so late that whoever looks for it next may find nothing yet', async () => {
    const backend = slowBy(45 * second)
    const rental = await intend({ ...stage, backend }, shape)
    expect(await backend.launch(rental)).toMatchObject({
      outcome: 'rejected',
      code: 'throttled',
      message: expect.stringContaining('Nothing was rented'),
    })
    expect(launches()).toHaveLength(0)
    // By the next intent, everything is there and known.
    expect(await backend.launch(await intend({ ...stage, backend }, shape))).toMatchObject({
      outcome: 'launched',
    })
  })

  it('is sent as long as there is time to see what comes of it', async () => {
    const backend = slowBy(20 * second)
    const rental = await intend({ ...stage, backend }, shape)
    expect(await backend.launch(rental)).toMatchObject({ outcome: 'launched' })
  })
})

describe('a launch whose answer was lost just before the settings were changed', () => {
  const lost = async () => {
    const rental = await intend(stage, shape)
    stage.cloud.faults.once('launchInstance', { kind: 'lost_answer' })
    expect(await stage.backend.launch(rental)).toMatchObject({ outcome: 'unknown' })
    stage.clock.advance(10 * minute)
    return rental
  }

  it('is looked for in the compartment that it was sent to', async () => {
    const rental = await lost()
    const moved = stage.another({ compartment_id: stage.cloud.otherTenancy.compartmentId })
    expect(await moved.find(rental)).toMatchObject({
      outcome: 'found',
      machine: { cloudId: stage.cloud.ledger()[0]?.instanceId, rentalId: stage.cloud.compartmentId },
    })
  })

  it('is also found there where the settings name no compartment any more', async () => {
    const rental = await lost()
    expect(await stage.another({ compartment_id: undefined }).find(rental)).toMatchObject({
      outcome: 'found',
    })
  })
})

describe('a launch in a compartment that the offer was not made in', () => {
  it('is not sent: the next look for offers sees what is there', async () => {
    const rental = await intend(stage, shape)
    const moved = stage.another({ compartment_id: stage.cloud.otherTenancy.compartmentId })
    expect(await moved.launch(rental)).toMatchObject({ outcome: 'rejected', code: 'throttled' })
    expect(launches()).toHaveLength(0)
  })
})

describe("Oracle's SDK", () => {
  it.each([
    [500, 'InternalServerError'],
    [502, 'BadGateway'],
    [503, 'ServiceUnavailable'],
    [504, 'GatewayTimeout'],
    [429, 'TooManyRequests'],
    [409, 'IncorrectState'],
  ])('repeats no launch after %i by itself', async (status, code) => {
    const rental = await intend(stage, shape)
    stage.cloud.faults.always('launchInstance', { kind: 'status', status, code })
    await stage.backend.launch(rental)
    expect(launches()).toHaveLength(1)
  })

  it.each(['lost_answer', 'cut_before'] as const)('repeats no launch after %s', async (kind) => {
    const rental = await intend(stage, shape)
    stage.cloud.faults.always('launchInstance', { kind })
    await stage.backend.launch(rental)
    expect(launches()).toHaveLength(1)
  })

  it('follows no redirect with a launch', async () => {
    const rental = await intend(stage, shape)
    const headers = {
      location: `${stage.cloud.endpoint.replace(/\{.*$/, '')}compute/${frankfurt}/20160918/instances`,
    }
    stage.cloud.faults.once('launchInstance', { kind: 'status', status: 307, headers })
    expect(await stage.backend.launch(rental)).toMatchObject({ outcome: 'unknown' })
    expect(launches()).toHaveLength(1)
  })
})
