import { afterEach, beforeEach, expect, it } from 'vitest'
import type { MachineRef } from '../../lib/backends/backend.ts'
import { type OciStage, rent, startOciStage } from './oci-stage.ts'

const minute = 60_000

let stage: OciStage
beforeEach(async () => {
  stage = await startOciStage()
})
afterEach(() => stage.cloud.stop())

/** A backend that is answered by a part of OCI that has not heard of any instance yet. */
const behind = () =>
  stage.another(
    {},
    {
      fetch: async (url, init) => {
        const isGet = init?.method === 'GET'
        if (isGet && /\/instances\/[^/]+$/.test(String(url)))
          return Response.json({ code: 'NotAuthorizedOrNotFound', message: 'no such' }, { status: 404 })
        if (isGet && /\/instances\/?\?/.test(String(url))) return Response.json([])
        return fetch(url, init)
      },
    },
  )

const rented = async (): Promise<MachineRef> => ({
  ...(await rent(stage, 'VM.GPU.A10.1')),
  rentedAt: stage.clock.now(),
})

it('a machine of a minute that no call shows is not gone: what ended is listed for long, what is new may not be', async () => {
  const ref = await rented()
  stage.clock.advance(minute)
  expect(await behind().state(ref)).toMatchObject({ state: 'unknown' })
  expect(await behind().release(ref, { force: true })).toMatchObject({ outcome: 'retry' })
  expect(stage.cloud.ledger()[0]?.endedAt).toBeNull()
})

it('a machine of ten minutes that no call shows is gone', async () => {
  const ref = await rented()
  stage.clock.advance(10 * minute)
  expect(await behind().state(ref)).toEqual({ state: 'gone', interrupted: false })
})
