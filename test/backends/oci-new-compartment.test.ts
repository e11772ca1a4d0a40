import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Operation } from '../../sandbox/clouds/oci/operations.ts'
import { countOf } from '../../sandbox/clouds/oci/simulated-oci.ts'
import { intend, type OciStage, startOciStage } from './oci-stage.ts'

const minute = 60_000
const notFound = { kind: 'status', status: 404, code: 'NotAuthorizedOrNotFound' } as const

let stage: OciStage
beforeEach(async () => {
  stage = await startOciStage({}, { compartment_id: undefined })
})
afterEach(() => stage.cloud.stop())

it('after the one before was deleted the same day is made all the same', async () => {
  const rental = await intend(stage, 'VM.GPU.A10.1')
  stage.cloud.faults.once('createCompartment', { kind: 'status', status: 409, code: 'InvalidatedRetryToken' })
  await stage.backend.launch(rental)
  expect(countOf(stage.cloud.requests, 'createCompartment')).toBe(2)
  stage.clock.advance(5 * minute)
  expect(
    await stage.backend.launch({ ...rental, intent: { ...rental.intent, writtenAt: stage.clock.now() } }),
  ).toMatchObject({ outcome: 'launched' })
})

// OCI makes a compartment in the home region; the others hear of it minutes later, and know nothing of it until then.
it.each<Operation>(['listVcns', 'listListings'])(
  'is waited for while %s does not know it yet',
  async (operation) => {
    const rental = await intend(stage, 'VM.GPU.A10.1')
    await stage.backend.launch(rental)
    stage.clock.advance(5 * minute)
    const again = { ...rental, intent: { ...rental.intent, writtenAt: stage.clock.now() } }
    stage.cloud.faults.once(operation, notFound)
    expect(await stage.backend.launch(again)).toMatchObject({ outcome: 'rejected', code: 'throttled' })
    expect(await stage.backend.launch(again)).toMatchObject({ outcome: 'launched' })
  },
)

it.each<Operation>(['listAvailabilityDomains', 'listShapes'])(
  'leaves the offers to be asked for again while %s does not know it yet',
  async (operation) => {
    stage.cloud.faults.always(operation, notFound)
    expect((await stage.backend.offers({})).errors).toMatchObject([{ code: 'no_answer' }])
  },
)

it('that the settings name, and that is not there, is an error of the settings', async () => {
  const backend = stage.another({ compartment_id: 'ocid1.compartment.oc1..nowhere' })
  expect((await backend.offers({})).errors).toMatchObject([{ code: 'refused' }])
})
