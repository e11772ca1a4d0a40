import type { Backend, PublishedCatalogue } from '../backends/backend.ts'
import type { Context } from '../context.ts'

/**
 * Reads the published lists of every cloud that has such, and keeps what they say. A list that can't be read, or that
 * has shrunk by more than half, changes nothing: the last good one goes on, and an alarm is raised.
 */
export const refreshCatalog = async (
  ctx: Pick<Context, 'backends' | 'store' | 'log'>,
): Promise<{ kept: string[] }> => {
  const kept = await Promise.all(
    ctx.backends.flatMap(({ type, published }) => (published ? refresh(ctx, type, published) : [])),
  )
  return { kept: kept.flat() }
}

const refresh = async (
  { store, log }: Pick<Context, 'store' | 'log'>,
  backend: Backend['type'],
  published: PublishedCatalogue,
): Promise<string[]> => {
  const read = await published.fetch()
  if (read.outcome === 'failed') {
    log.alarm('CatalogueFailed', `${read.message}; the prices that were read before stay`, { backend })
    return []
  }
  const { rows } = read.catalogue
  const before = (await store.catalogues.get(backend)) ?? published.shipped
  if (rows.length * 2 < before.rows.length) {
    log.alarm('CatalogueShrank', 'the new list has less than half of the shapes; the one before stays', {
      backend,
      shapes: rows.length,
      before: before.rows.length,
    })
    return []
  }
  await store.catalogues.put(backend, read.catalogue)
  log.info(`shapes and prices of ${backend} were read anew`, {
    backend,
    shapes: rows.length,
    leftOut: read.left.length,
  })
  return [backend]
}
