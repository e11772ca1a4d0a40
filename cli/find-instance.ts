import * as z from 'zod'
import { instancesPage, type ShownInstance } from './answers.ts'
import type { Api } from './api.ts'
import { Failure } from './failure.ts'

const idForm = /^i-[0-9a-f]{12}$/
/** So many pages of 200 ended instances are searched for a name. */
const mostEndedPages = 5
const rawPage = z.object({ instances: z.array(z.unknown()) })

/**
 * Every instance that lives, or has the status, once: one that changes its list meanwhile comes on two pages. `raw` is
 * what the API said of each.
 */
export const listInstances = async (
  api: Api,
  status?: string,
  mostPages = Number.POSITIVE_INFINITY,
): Promise<{ instances: ShownInstance[]; raw: unknown[]; more: boolean }> => {
  const found = new Map<string, { instance: ShownInstance; raw: unknown }>()
  let cursor: string | undefined
  let pages = 0
  do {
    const query = new URLSearchParams({ limit: '200', ...(status && { status }), ...(cursor && { cursor }) })
    const page = await api.call(instancesPage, 'GET', `/instances?${query}`)
    const told = rawPage.parse(page.raw).instances
    for (const [n, instance] of page.value.instances.entries())
      found.set(instance.id, { instance, raw: told[n] })
    cursor = page.value.cursor
    pages += 1
  } while (cursor !== undefined && pages < mostPages)
  const all = [...found.values()]
  return {
    instances: all.map(({ instance }) => instance),
    raw: all.map(({ raw }) => raw),
    more: cursor !== undefined,
  }
}

/** The id of the instance of that name or id: one that lives before those that have ended. Throws a Failure. */
export const findInstance = async (api: Api, nameOrId: string): Promise<string> => {
  if (idForm.test(nameOrId)) return nameOrId
  const live = await listInstances(api)
  const found = live.instances.filter(({ name }) => name === nameOrId)
  if (found.length > 0) return onlyOne(nameOrId, found)
  const gone = await listInstances(api, 'terminated', mostEndedPages)
  const ended = gone.instances.filter(({ name }) => name === nameOrId)
  if (ended.length > 0) return onlyOne(nameOrId, ended)
  const names = live.instances.slice(0, 10).map(({ name }) => name)
  throw new Failure('nothingFound', `There is no instance ${nameOrId}.`, [
    names.length > 0
      ? `There are: ${names.join(', ')}. See: berth ps`
      : 'There is none at all. See: berth ps --all',
  ])
}

const onlyOne = (name: string, found: ShownInstance[]): string => {
  const [first, ...others] = found
  if (first && others.length === 0) return first.id
  throw new Failure(
    'wrongUsage',
    `${found.length} instances are named ${name}. Give the id of the one you mean:`,
    found.map(
      ({ id, status, instanceType, createdAt }) =>
        `  ${id}  ${status}  ${instanceType ?? 'no machine yet'}  created ${createdAt.slice(0, 16)}Z`,
    ),
  )
}
