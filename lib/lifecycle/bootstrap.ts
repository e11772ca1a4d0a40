import type { MachineRef, MachineState } from '../backends/backend.ts'
import type { Context } from '../context.ts'
import { isDue } from '../model/due.ts'
import type { HardwareVerdict } from '../model/hardware.ts'
import type { Instance, Machine } from '../model/instance.ts'
import { stepOf } from '../model/step.ts'
import { judgeHardware } from '../shim/hardware-verdict.ts'
import { type ShimHealth, type ShimSession, ShimUnreachable } from '../shim/shim.ts'
import { backendOf, refOf } from './backend-of.ts'
import { change, growingDelay, hintNext, leased, patient, visitAgain, withEvent, withNews } from './change.ts'
import { end } from './end.ts'
import { nextCheck } from './idle-rule.ts'
import { tryNextOffer } from './try-next-offer.ts'

/** Longest pause between two looks at a machine that is coming up: VMs take a minute or two, bare metal many. */
const vmDelayMs = 15_000
const bareMetalDelayMs = 45_000
const longBootMs = 1_200_000
/** So much after a deadline a visit finds it over, though it may come half a second early. */
const deadlineSlackMs = 1000

/**
 * Brings a rented machine into service: waits for it, starts the agent over SSH, checks the hardware. One visit does
 * what can be done now; "not yet" of any kind leads to another visit, until the deadline of the machine's class.
 */
export const bootstrap = async (ctx: Context, id: string): Promise<void> => {
  const instance = await ctx.store.get(id)
  if (!instance || stepOf(instance) !== 'bootstrap' || !isDue(instance, ctx.clock.now())) return
  const ref = refOf(instance)
  if (!ref) throw new Error(`instance ${id} boots without a machine`)
  const seen = await backendOf(ctx, instance).state(ref)
  switch (seen.state) {
    case 'running':
      return startAgent(ctx, await noteRunning(ctx, instance, ref), seen.address)
    case 'starting':
      return notYet(ctx, instance, `booting: ${seen.progress}`)
    case 'unknown':
      return notYet(
        ctx,
        instance,
        `the cloud does not say how the machine is: ${seen.message}`,
        seen.retryAfterMs,
      )
    case 'failed':
      return repairOnce(ctx, instance, ref, seen.message)
    case 'stopping':
      // Why it ends shows when it has.
      return notYet(ctx, instance, 'the cloud is taking the machine away')
    case 'gone':
      return seen.neverRan === undefined
        ? end(ctx, instance, goneBecause(seen))
        : tryNextOffer(ctx, instance, seen.neverRan)
  }
}

/** Where money runs from when the machine runs, that time is kept: the cloud says it as long as it is new. */
const noteRunning = async (ctx: Context, known: Instance, ref: MachineRef): Promise<Instance> => {
  const { billing } = known
  if (billing?.startsAt !== 'running' || billing.from !== undefined) return known
  const { from } = await backendOf(ctx, known).billed(ref)
  const { instance } = await change(ctx, known, (current) =>
    current.version === known.version
      ? { ...current, billing: { ...billing, from: from ?? ctx.clock.now() } }
      : undefined,
  )
  return instance
}

/** A machine that vanished without us: taken back by its cloud (preemptible), or by a person. */
export const goneBecause = (seen: Extract<MachineState, { state: 'gone' }>) =>
  seen.interrupted
    ? { reason: 'interrupted' as const, message: 'the cloud took the preemptible machine back' }
    : { reason: 'lost' as const, message: 'the machine is gone from the cloud, and not by us' }

const startAgent = async (
  ctx: Context,
  instance: Instance,
  address: { hostname: string; port: number; username: string },
): Promise<void> => {
  const target = { ...address, hostKeyFingerprint: instance.machine?.hostKeyFingerprint }
  let session: ShimSession | undefined
  try {
    session = await ctx.shim.connect(target)
    const working = await takeVisit(ctx, instance, {
      hostname: address.hostname,
      sshPort: address.port,
      sshUsername: address.username,
      hostKeyFingerprint: session.hostKeyFingerprint,
    })
    if (working) await prepare(ctx, working, session)
  } catch (error) {
    if (!(error instanceof ShimUnreachable)) throw error
    await notYet(ctx, instance, `not reachable yet: ${error.message}`)
  } finally {
    session?.close()
  }
}

/** Pins the host key and makes the machine this visit's; undefined when another visit was quicker. */
const takeVisit = async (ctx: Context, instance: Instance, reached: Partial<Machine>) => {
  const { instance: working, changed } = await change(ctx, instance, (current) => {
    if (current.version !== instance.version || !current.machine) return undefined
    const line = 'installed, SSH answers, host key pinned; starting the agent'
    const moved =
      current.phase === 'booting'
        ? withEvent(current, ctx.clock.now(), line, { phase: 'bootstrapping' })
        : { ...current, visits: current.visits + 1 }
    return leased(ctx, { ...moved, machine: { ...current.machine, ...reached } })
  })
  return changed ? working : undefined
}

const prepare = async (ctx: Context, instance: Instance, session: ShimSession): Promise<void> => {
  const before = instance.phase === 'verifying' ? await agentHealth(session) : undefined
  const script = before ? undefined : await session.bootstrap()
  const health = before ?? (await agentHealth(session))
  if (!health)
    return notYet(ctx, instance, `the agent does not answer yet: ${lastLine(script?.output ?? '')}`)
  try {
    if (instance.sshKeys.length > 0) await session.authorizeKeys(instance.sshKeys)
    const hardware = await verify(instance, session)
    if (hardware.verdict === 'mismatch' && instance.hardwareCheck === 'enforce') {
      return giveBackWrong(ctx, instance, hardware)
    }
    await ready(ctx, instance, health, hardware)
  } catch (error) {
    if (!(error instanceof ShimUnreachable)) throw error
    await verifyLater(ctx, instance, health, error.message)
  }
}

const agentHealth = async (session: ShimSession): Promise<ShimHealth | undefined> => {
  try {
    return await session.health()
  } catch (error) {
    if (error instanceof ShimUnreachable) return undefined
    throw error
  }
}

/** The agent runs, so that only the check is left for another visit. */
const verifyLater = async (ctx: Context, known: Instance, health: ShimHealth, why: string): Promise<void> => {
  if (ctx.clock.now() > (known.bootDeadline ?? 0)) return notYet(ctx, known, `${agentIs(health)}; ${why}`)
  const { instance, changed } = await change(ctx, known, (current) => {
    if (stepOf(current) !== 'bootstrap' || !current.machine) return undefined
    const now = ctx.clock.now()
    const line = `${agentIs(health)}; the hardware could not be checked yet: ${why}`
    const told = withEvent(current, now, line, { phase: 'verifying' })
    const machine = { ...current.machine, shimVersion: health.version }
    return { ...visitAgain(told, now + growingDelay(current.visits, vmDelayMs)), machine }
  })
  if (changed) await hintNext(ctx, instance)
}

const agentIs = ({ version, gpuHealth }: ShimHealth): string =>
  gpuHealth && gpuHealth.level > 0
    ? `shim ${version} runs and reports GPU trouble: ${gpuHealth.incidents.join('; ') || `level ${gpuHealth.level}`}`
    : `shim ${version} is healthy`

const verify = async (instance: Instance, session: ShimSession): Promise<HardwareVerdict> => {
  if (instance.hardwareCheck === 'off' || !instance.resources)
    return { verdict: 'skipped', observed: null, differences: [] }
  return judgeHardware(instance.resources, await session.hardware())
}

const giveBackWrong = (ctx: Context, known: Instance, hardware: HardwareVerdict): Promise<void> => {
  const message = `the machine is not what was advertised: ${hardware.differences.join('; ')}`
  return end(ctx, known, { reason: 'hardware_mismatch', message }, { hardware })
}

const ready = async (
  ctx: Context,
  known: Instance,
  health: ShimHealth,
  hardware: HardwareVerdict,
): Promise<void> => {
  const { instance, changed } = await change(ctx, known, (current) => {
    if (stepOf(current) !== 'bootstrap' || !current.machine) return undefined
    const now = ctx.clock.now()
    const started = withEvent(current, now, agentIs(health), { phase: 'verifying' })
    const checked = withEvent(started, now, sayHardware(hardware))
    const status = current.claim ? 'busy' : 'idle'
    const inService = withEvent(
      checked,
      now,
      current.claim ? `ready for ${current.claim.holder}` : 'ready, unclaimed',
      { status },
    )
    const stands = {
      ...inService,
      readyAt: now,
      hardware,
      tried: undefined,
      machine: { ...current.machine, shimVersion: health.version },
      ...(current.claim ? { claim: claimFrom(current.claim, now) } : { idleSince: now }),
    }
    return nextCheck(stands, now)
  })
  if (changed) await hintNext(ctx, instance)
}

/** The renter's time to arrive, and its hold, run from when the machine is ready, not from the request. */
const claimFrom = (claim: NonNullable<Instance['claim']>, now: number): Instance['claim'] => ({
  ...claim,
  since: now,
  ...(claim.holdUntil !== undefined && { holdUntil: claim.holdUntil + now - claim.since }),
})

const sayHardware = ({ verdict, differences }: HardwareVerdict): string => {
  if (verdict === 'match') return 'hardware as advertised'
  if (verdict === 'skipped') return 'hardware not checked, as asked'
  return `hardware differs (only a warning was asked for): ${differences.join('; ')}`
}

const notYet = async (ctx: Context, known: Instance, line: string, retryAfterMs?: number): Promise<void> => {
  if (ctx.clock.now() > (known.bootDeadline ?? 0)) {
    const message = `the machine was not ready in time; last seen: ${line}`
    return end(ctx, known, { reason: 'provisioning_timeout', message })
  }
  const { instance, changed } = await change(ctx, known, (current) => {
    if (stepOf(current) !== 'bootstrap') return undefined
    const now = ctx.clock.now()
    const told = withNews(current, now, line)
    const isLong = (current.bootDeadline ?? now) - (current.startedAt ?? now) > longBootMs
    const usual = growingDelay(current.visits, isLong ? bareMetalDelayMs : vmDelayMs)
    // Its deadline is kept, however long the cloud is to be left in peace: the machine costs money.
    const untilDeadline = Math.max(usual, (current.bootDeadline ?? now) + deadlineSlackMs - now)
    return visitAgain(told, now + Math.min(patient(usual, retryAfterMs), untilDeadline))
  })
  if (changed) await hintNext(ctx, instance)
}

/**
 * Hours of it are paid, so a failed installation gets a second chance, with the whole time for it. Nothing is lost by
 * asking twice: a machine that failed holds nothing.
 */
const repairOnce = async (ctx: Context, known: Instance, ref: MachineRef, failure: string): Promise<void> => {
  const gaveUp = (why: string) => end(ctx, known, { reason: 'error', message: `${failure}${why}` })
  if (known.machine?.repairedAt !== undefined) return gaveUp(', again, after it was installed anew')
  const backend = backendOf(ctx, known)
  const asked = await backend.repair(ref)
  if (asked.outcome === 'not_possible') return gaveUp(`; ${asked.message}`)
  if (asked.outcome === 'retry') return notYet(ctx, known, `${failure}; ${asked.message}`, asked.retryAfterMs)
  const { instance, changed } = await change(ctx, known, (current) => {
    if (stepOf(current) !== 'bootstrap' || !current.machine) return undefined
    const now = ctx.clock.now()
    return {
      ...visitAgain(
        withEvent(current, now, `${failure}; the system is installed anew, once`, { phase: 'booting' }),
        now + 5000,
      ),
      bootDeadline: now + backend.bootDeadlineMs(current.instanceType ?? ''),
      machine: { ...current.machine, repairedAt: now, hostKeyFingerprint: undefined },
    }
  })
  if (changed) await hintNext(ctx, instance)
}

const lastLine = (output: string) => output.trim().split('\n').at(-1)?.slice(0, 200) ?? ''
