import { billOf } from '../lifecycle/billed.ts'
import { chargedBy } from '../model/billing.ts'
import type { Instance, InstanceEvent } from '../model/instance.ts'
import { accruedCost, toDollars } from '../model/money.ts'
import { formatSpan } from '../model/span.ts'
import type { EventAnswer, InstanceAnswer, ReservationAnswer } from './answers.ts'

/** An instance as the API shows it: ISO times, US dollars, null for what is not there. */
export const instanceView = (instance: Instance, now: number): InstanceAnswer => {
  const { machine, reservation } = instance
  return {
    id: instance.id,
    name: instance.name,
    fleet: instance.fleet ?? null,
    status: instance.status,
    phase: instance.phase ?? null,
    backend: instance.backend ?? null,
    region: instance.region ?? null,
    zone: instance.zone ?? null,
    instanceType: instance.instanceType ?? null,
    resources: instance.resources ?? null,
    pricePerHour: dollars(instance.pricePerHourCents),
    cloudId: machine?.cloudId ?? null,
    hostname: machine?.hostname ?? null,
    sshPort: machine?.sshPort ?? null,
    sshUsername: machine?.sshUsername ?? null,
    hostKeyFingerprint: machine?.hostKeyFingerprint ?? null,
    createdAt: isoTime(instance.createdAt),
    startedAt: iso(instance.startedAt),
    holder: instance.claim?.holder ?? null,
    holdUntil: iso(instance.claim?.holdUntil),
    lastActivityAt: iso(instance.lastActivityAt),
    idleSince: iso(instance.idleSince),
    unreachableSince: iso(instance.unreachableSince),
    idleDuration: formatSpan(instance.idleDuration),
    maxDuration: formatSpan(instance.maxDuration),
    reservedUntil: iso(reservation?.until),
    releaseAt: iso(instance.releaseAt),
    terminationReason: instance.terminationReason ?? null,
    terminationMessage: instance.terminationMessage ?? null,
    terminatedAt: iso(instance.terminatedAt),
    hardware: instance.hardware ?? null,
    accruedCost: toDollars(costSoFar(instance, now)),
    minimumCharge: dollars(instance.minimumChargeCents),
  }
}

export const eventView = ({ at, status, phase, message }: InstanceEvent): EventAnswer => ({
  at: isoTime(at),
  status,
  phase: phase ?? null,
  message,
})

/** The prepaid time of an instance, with what became of it. */
export const reservationView = (instance: Instance): ReservationAnswer => ({
  instanceId: instance.id,
  backend: instance.backend ?? null,
  cloudId: instance.machine?.cloudId ?? null,
  instanceType: instance.instanceType ?? null,
  startedAt: iso(instance.startedAt),
  reservedUntil: iso(instance.reservation?.until),
  minimumMinutes: instance.reservation?.minimumMinutes ?? null,
  pricePerHour: dollars(instance.pricePerHourCents),
  minimumCharge: dollars(instance.reservation?.chargeCents),
  state: instance.reservation?.state ?? null,
})

const costSoFar = (instance: Instance, now: number) => {
  const bill = billOf(instance)
  return bill ? chargedBy(bill, now) : byLaunch(instance, now)
}

/** Records of before there was a ledger have no bill. */
const byLaunch = (instance: Instance, now: number) =>
  instance.startedAt === undefined || instance.pricePerHourCents === undefined
    ? 0
    : accruedCost({
        pricePerHourCents: instance.pricePerHourCents,
        minimumMinutes: instance.minimumReservationMinutes ?? 0,
        startedAt: instance.startedAt,
        until: instance.terminatedAt === undefined ? now : (instance.releasedAt ?? instance.terminatedAt),
      })

const isoTime = (time: number): string => new Date(time).toISOString()

const iso = (time: number | undefined) => (time === undefined ? null : isoTime(time))

const dollars = (amount: number | undefined) => (amount === undefined ? null : toDollars(amount))
