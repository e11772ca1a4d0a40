import * as z from 'zod'
import type { Context } from '../context.ts'
import { BerthError } from '../model/errors.ts'
import type { Instance } from '../model/instance.ts'
import { anInstance } from './examples.ts'
import type { HttpRequest } from './http-handler.ts'

const instanceId = z
  .string()
  .regex(/^i-[0-9a-f]{12}$/)
  .meta({ examples: [anInstance.id] })

/** The path of what is one instance's. */
export const instancePath = z.object({ id: instanceId })

/** The instance that a path names. Throws BerthError not_found. */
export const knownInstance = async (ctx: Context, { parameters }: HttpRequest): Promise<Instance> => {
  const id = parameters.id ?? ''
  const instance = instanceId.safeParse(id).success ? await ctx.store.get(id) : undefined
  if (instance) return instance
  throw new BerthError('not_found', `There is no instance ${id.slice(0, 64)}.`)
}
