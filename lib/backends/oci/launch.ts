import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { Clock } from '../../model/clock.ts'
import { messageOf } from '../../model/errors.ts'
import type { LaunchOutcome, RejectionCode, Rental } from '../backend.ts'
import type { Failure } from './answer.ts'
import type { Api, Clients } from './api.ts'
import { listingOf } from './gpus.ts'
import { machineOf, markTag } from './instances.ts'
import { payload } from './offers.ts'
import type { Ground, SetUp } from './set-up.ts'

/** An answer without one tells of no machine. */
const instanceId = z.string().min(1)

/**
 * How old an intent may be when its launch is sent. `find` believes an empty list two minutes after it was written, and
 * another handler takes over then, so a launch that waited for its network must not be sent into that time.
 */
const latestMs = 30_000

type Parts = {
  api: Api
  setUp: SetUp
  imageVersion: string
  sshPublicKey: string
  userData: () => Promise<string>
  clock: Clock
}

/** The one paid call. Whatever answer is not a proved refusal is `unknown`: then a machine may exist. */
export const launchMachine = async (parts: Parts, rental: Rental): Promise<LaunchOutcome> => {
  const { api, setUp } = parts
  const { intent, region, zone } = rental
  const offer = payload.safeParse(intent.payload)
  if (!offer.success) return reject('gone', `The offer can't be read: ${messageOf(offer.error)}`)
  if (zone === undefined) return reject('gone', `The offer names no availability domain of ${region}`)
  const listing = listingOf(offer.data.gpuName, parts.imageVersion)
  const ground = await setUp.ground(region, listing)
  if (ground.kind === 'failed') return judgeSetUp(ground)
  const sent = { sshPublicKey: parts.sshPublicKey, userData: await parts.userData() }
  const late = tooLate(parts.clock, rental, offer.data.compartmentId, ground.value)
  if (late !== undefined) return reject('throttled', `${late}. Nothing was rented.`)
  const answer = await api.ask('launch', region, async ({ compute, models }) => {
    const { instance } = await compute.launchInstance({
      launchInstanceDetails: details(sent, { ...rental, zone }, offer.data, ground.value, models),
      // The same for the same intent, however often it is sent; 64 characters at most.
      opcRetryToken: createHash('sha256').update(intent.token).digest('hex'),
    })
    return instanceId.parse(instance.id)
  })
  if (answer.kind === 'ok') {
    const { compartmentId } = ground.value
    return { outcome: 'launched', machine: machineOf({ id: answer.value, compartmentId }) }
  }
  // Somebody may have deleted something that it names.
  if (answer.status === 404 || answer.code === 'InvalidParameter') setUp.forget(region, listing)
  return judgeLaunch(answer)
}

/** Why a launch that could be sent is not: what it rented might not be found. */
const tooLate = (
  clock: Clock,
  { intent }: Rental,
  offeredIn: string | null,
  { compartmentId }: Ground,
): string | undefined => {
  if (offeredIn !== null && offeredIn !== compartmentId)
    return `The offer was made in another compartment (${offeredIn}) than the settings name now`
  return clock.now() - intent.writtenAt > latestMs
    ? `It took more than ${latestMs / 1000} s to have the network and the image ready; they are from now on`
    : undefined
}

const details = (
  { sshPublicKey, userData }: { sshPublicKey: string; userData: string },
  { intent, zone, instanceType }: Rental & { zone: string },
  { spot, diskGb }: { spot: boolean; diskGb: number },
  { compartmentId, subnetId, groupId, imageId }: Ground,
  { TerminatePreemptionAction, InstanceSourceViaImageDetails }: Clients['models'],
) => ({
  availabilityDomain: zone,
  compartmentId,
  shape: instanceType,
  displayName: intent.mark,
  freeformTags: tagsOf(intent.mark),
  sourceDetails: {
    sourceType: InstanceSourceViaImageDetails.sourceType,
    imageId,
    bootVolumeSizeInGBs: diskGb,
  },
  createVnicDetails: { subnetId, nsgIds: [groupId], assignPublicIp: true },
  metadata: {
    ssh_authorized_keys: sshPublicKey,
    user_data: Buffer.from(userData).toString('base64'),
  },
  instanceOptions: { areLegacyImdsEndpointsDisabled: true },
  ...(spot && {
    preemptibleInstanceConfig: {
      preemptionAction: { type: TerminatePreemptionAction.type, preserveBootVolume: false },
    },
  }),
})

/** `berth:<owner>:<instance>:<attempt>`, and its parts for people who look for them in the console. */
const tagsOf = (mark: string): Record<string, string> => {
  const [, owner, instance] = /^berth:([^:]+):([^:]+):\d+$/.exec(mark) ?? []
  return {
    [markTag]: mark,
    ...(owner !== undefined && { 'berth-owner': owner }),
    ...(instance !== undefined && { 'berth-instance': instance }),
  }
}

const judgeLaunch = (failure: Failure): LaunchOutcome => {
  const said = `${failure.message}. Nothing was rented.`
  if (!failure.sent) return { ...reject('throttled', said), retryAfterMs: failure.retryAfterMs }
  if (isOutOfCapacity(failure)) return reject('no_capacity', said)
  switch (failure.status) {
    case 400:
      return isOverQuota(failure) ? reject('no_quota', said) : reject('invalid_settings', said)
    case 401:
      return reject('bad_credentials', said)
    case 403:
      return reject('invalid_settings', `${said} Do the policies of the tenancy allow it?`)
    case 404:
      // Something that it names is gone, or may not be used: found or made anew at the next try.
      return {
        ...reject('throttled', `${said} Do the policies allow to use what it names?`),
        retryAfterMs: 15_000,
      }
    case 409:
      // Something that it names is being changed. A stale retry token, though, may have rented something.
      return failure.code === 'IncorrectState' ? reject('throttled', said) : unknown(failure)
    case 429:
      return { ...reject('throttled', said), retryAfterMs: failure.retryAfterMs }
    default:
      return unknown(failure)
  }
}

/** Before the launch nothing can have been rented, so what is not known is only to be asked again. */
const judgeSetUp = (failure: Failure): LaunchOutcome => {
  const said = `Nothing was rented: ${failure.message}.`
  if (failure.status === 401) return reject('bad_credentials', said)
  if (isOverQuota(failure)) return reject('no_quota', said)
  const isAnswer = failure.status !== undefined && failure.status < 500
  if (isAnswer && ![409, 429].includes(failure.status ?? 0))
    return reject(
      'invalid_settings',
      `${said} Berth needs a network, a security group and an image in the compartment.`,
    )
  return { ...reject('throttled', said), retryAfterMs: failure.retryAfterMs }
}

/** OCI sends it as a fault of the server. */
const isOutOfCapacity = ({ status, message }: Failure) =>
  status !== undefined && status >= 400 && /out of (host )?capacity/i.test(message)

const isOverQuota = ({ code }: Failure) => code === 'LimitExceeded' || code === 'QuotaExceeded'

const unknown = ({ message, retryAfterMs }: Failure): LaunchOutcome => ({
  outcome: 'unknown',
  message,
  retryAfterMs,
})

const reject = (code: RejectionCode, message: string) => ({ outcome: 'rejected' as const, code, message })
