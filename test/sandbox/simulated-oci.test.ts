import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { minute, type OciStage, refusalOf, second, setUpOci } from './oci-stage.ts'

let stage: OciStage

beforeEach(async () => {
  stage = await setUpOci()
})
afterEach(() => stage.tearDown())

describe('an instance', () => {
  it('goes from PROVISIONING to RUNNING, and from TERMINATING to TERMINATED, by the clock', async () => {
    const { details } = await stage.prepare()
    const { compute } = stage.clients()
    const { instance } = await compute.launchInstance({ launchInstanceDetails: details })
    const stateAfter = async (ms: number) => {
      stage.clock.advance(ms)
      return (await compute.getInstance({ instanceId: instance.id })).instance.lifecycleState
    }
    expect(instance.lifecycleState).toBe('PROVISIONING')
    expect(await stateAfter(30 * second)).toBe('STARTING')
    expect(await stateAfter(30 * second)).toBe('RUNNING')
    await compute.terminateInstance({ instanceId: instance.id })
    expect(await stateAfter(0)).toBe('TERMINATING')
    expect(await stateAfter(minute)).toBe('TERMINATED')
    expect(await stateAfter(60 * minute - 1)).toBe('TERMINATED')
    stage.clock.advance(1)
    expect(await refusalOf(compute.getInstance({ instanceId: instance.id }))).toMatchObject({
      status: 404,
      code: 'NotAuthorizedOrNotFound',
    })
  })
})
