import type { Backend, MachineRef } from '../backends/backend.ts'
import type { Context } from '../context.ts'
import type { Instance } from '../model/instance.ts'

/** The backend of an instance. Throws when the settings have it no more: nothing can then be done for its machine. */
export const backendOf = (ctx: Pick<Context, 'backends'>, instance: Instance): Backend => {
  const backend = ctx.backends.find(({ type }) => type === instance.backend)
  if (backend) return backend
  throw new Error(
    `instance ${instance.id} is on backend ${instance.backend}, which the settings do not list; ` +
      'put it back until the machine is given back',
  )
}

/** The rented machine of an instance, or undefined while none is known. */
export const refOf = (instance: Instance): MachineRef | undefined =>
  instance.machine && instance.region !== undefined && instance.instanceType !== undefined
    ? {
        region: instance.region,
        instanceType: instance.instanceType,
        cloudId: instance.machine.cloudId,
        rentalId: instance.machine.rentalId,
        mark: instance.machine.mark,
        rentedAt: instance.startedAt,
      }
    : undefined
