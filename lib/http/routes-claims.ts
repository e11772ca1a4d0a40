import * as z from 'zod'
import { claimInstance, releaseInstance } from '../lifecycle/claim.ts'
import { claimRequest } from '../model/request.ts'
import { type InstanceAnswer, instanceAnswer } from './answers.ts'
import { anInstance } from './examples.ts'
import type { Route } from './http-handler.ts'
import { instanceView } from './instance-view.ts'
import { instancePath, knownInstance } from './known-instance.ts'
import { parseBody } from './parse.ts'
import { json } from './problem.ts'

const releaseRequest = z.strictObject({})

/** Who has a machine. */
export const claimRoutes: Route[] = [
  {
    method: 'POST',
    path: '/instances/{id}/claim',
    about: {
      operationId: 'claimInstance',
      tag: 'instances',
      summary: 'Claim an idle machine, or hold your own for longer',
      description:
        'Takes an idle machine by its id, at no new charge; nobody else is given it while the claim lasts, and it lets in the given SSH keys alone. On a machine that the caller has claimed already it prolongs the hold, and the machine costs money at least that long, and adds the keys.',
      path: instancePath,
      body: {
        schema: claimRequest,
        examples: {
          forTwoHours: { hold: '2h', sshKeys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI alice'] },
        },
      },
      answer: {
        status: 200,
        description: 'The instance, claimed.',
        schema: instanceAnswer,
        examples: { busy: anInstance },
      },
      problems: ['not_found', 'not_claimable', 'limit_exceeded'],
    },
    handle: async (ctx, request) => {
      const claim = parseBody(claimRequest, request)
      const instance = await claimInstance(ctx, await knownInstance(ctx, request), {
        holder: request.caller,
        ...claim,
      })
      return json<InstanceAnswer>(200, instanceView(instance, ctx.clock.now()))
    },
  },
  {
    method: 'POST',
    path: '/instances/{id}/release',
    about: {
      operationId: 'releaseInstance',
      tag: 'instances',
      summary: 'End your claim',
      description:
        'Leaves the machine to whoever asks next. It goes on costing money until it has been idle for its `idleDuration` and nothing prepaid is left; to give it back at once, delete it.',
      path: instancePath,
      body: { schema: releaseRequest, examples: { nothing: {} } },
      answer: {
        status: 200,
        description: 'The instance, unclaimed.',
        schema: instanceAnswer,
        examples: { idle: { ...anInstance, status: 'idle', holder: null } },
      },
      problems: ['not_found', 'not_claimed'],
    },
    handle: async (ctx, request) => {
      parseBody(releaseRequest, request)
      const instance = await releaseInstance(ctx, await knownInstance(ctx, request), request.caller)
      return json<InstanceAnswer>(200, instanceView(instance, ctx.clock.now()))
    },
  },
]
