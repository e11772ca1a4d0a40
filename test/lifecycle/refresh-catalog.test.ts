import { describe, expect, test } from 'vitest'
import type { PublishedCatalogue } from '../../lib/backends/backend.ts'
import { refreshCatalog } from '../../lib/lifecycle/refresh-catalog.ts'
import type { KeptCatalogue } from '../../lib/model/catalogue.ts'
import { worldSuite } from '../support/world-suite.ts'

const world = worldSuite()
const list = (madeAt: number, shapes: number): KeptCatalogue => ({
  madeAt,
  rows: Array.from({ length: shapes }, (_, n) => ({ shape: `BM.${n}` })),
})

type Read = Awaited<ReturnType<PublishedCatalogue['fetch']>>

/** A world whose backend publishes lists, one after another. */
const publishing = async (...reads: Read[]) => {
  const w = await world()
  const published = {
    shipped: list(0, 4),
    fetch: async () => reads.shift() ?? { outcome: 'failed' as const, message: 'nothing more' },
  }
  const [backend] = w.ctx.backends
  if (!backend) throw new Error('a world has a backend')
  w.ctx.backends = [{ ...backend, type: 'oci', published }, backend]
  return {
    said: w.said,
    refresh: () => refreshCatalog(w.ctx),
    kept: () => w.ctx.store.catalogues.get('oci'),
  }
}
const read = (catalogue: KeptCatalogue): Read => ({ outcome: 'read', catalogue, left: [] })

describe('the published lists', () => {
  test('are kept once they are read, and replaced by the next', async () => {
    const w = await publishing(read(list(1, 4)), read(list(2, 9)))
    expect(await w.refresh()).toEqual({ kept: ['oci'] })
    await w.refresh()
    expect(await w.kept()).toEqual(list(2, 9))
    expect(w.said).toEqual([])
  })

  test('that can not be read leave the last good one, with an alarm', async () => {
    const w = await publishing(read(list(1, 4)), { outcome: 'failed', message: 'answered 503' })
    await w.refresh()
    expect(await w.refresh()).toEqual({ kept: [] })
    expect(await w.kept()).toEqual(list(1, 4))
    expect(w.said).toEqual([expect.stringMatching(/^CatalogueFailed: answered 503/)])
  })

  test('that shrank by more than half leave the last good one, with an alarm', async () => {
    const w = await publishing(read(list(1, 8)), read(list(2, 3)), read(list(3, 4)))
    await w.refresh()
    await w.refresh()
    expect(await w.kept()).toEqual(list(1, 8))
    expect(w.said).toEqual([expect.stringMatching(/^CatalogueShrank/)])
    await w.refresh()
    expect(await w.kept()).toEqual(list(3, 4))
  })

  test('must not be less than half of what ships either', async () => {
    const w = await publishing(read(list(1, 1)))
    await w.refresh()
    expect(await w.kept()).toBeUndefined()
  })
})
