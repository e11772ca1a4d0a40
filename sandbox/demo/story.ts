import { formatDollars } from '../../lib/model/money.ts'
import { newKeyPair } from '../../lib/shim/key-pair.ts'
import type { LocalBerth } from '../local/local-berth.ts'
import { apiClient } from './api-client.ts'
import { follow } from './follow.ts'
import { type ProgressLine, progressLine } from './progress-line.ts'
import { arrive } from './renter.ts'

const wanted = { gpu: 'MI300X:192GB:8', instanceTypes: ['bm-mi300x-8'], idleDuration: '5m' }

/** Tells one rental from the offer to the last line of the bill, in plain lines. False when something went wrong. */
export const tellStory = async (
  berth: LocalBerth,
  speed: number,
  out: NodeJS.WriteStream,
): Promise<boolean> => {
  const api = apiClient(berth)
  const line = progressLine(out)
  const clock = () => new Date(berth.context.clock.now()).toISOString().slice(11, 16)
  const tell = (text: string) => line.say(`${clock()}  ${text}`)
  const renter = newKeyPair()

  line.say(`Berth on simulated clouds. Nothing here costs money, and time runs fast.`)
  line.say('\nOffers with eight MI300X:')
  await showOffers(api, line)

  line.say('')
  tell(`A request: gpu=${wanted.gpu}, ${wanted.instanceTypes[0]}, with the SSH key of its renter.`)
  const { id } = await api.rent({ ...wanted, name: 'trainer', sshKeys: [renter.publicKey] })
  const machine = follow({ api, id, line, clock })
  const ready = await machine.until('getting ready', ({ status }) => status === 'busy')
  tell(
    `${ready.cloudId} is claimed by its renter (${ready.holder}): ssh ${ready.sshUsername}@${ready.hostname} -p ${ready.sshPort}`,
  )

  const session = await arrive(ready, renter.privateKey)
  tell(`The renter is on the machine and sees ${session.sees}.`)
  await machine.until('the renter works', ({ events }) =>
    events.some(({ message }) => message.startsWith('in use')),
  )
  tell('The renter leaves, and releases the machine.')
  session.leave()
  await api.release(id)
  await machine.until('idle', ({ events }) =>
    events.some(({ message }) => message.startsWith('idle, and kept')),
  )

  tell('A second request that fits comes in.')
  const chargedBefore = chargedSoFar(berth)
  const second = await api.rent({ ...wanted, name: 'second' })
  await machine.until('taken again', ({ status }) => status === 'busy')
  const isReused = second.id === id && chargedSoFar(berth) === chargedBefore
  tell(
    isReused
      ? `It gets the same machine, ${second.cloudId}, with no new charge.`
      : 'It does NOT get the same machine.',
  )
  tell(`It is released as well, and kept until its eight hours end. Time now runs ${speed} times as fast.`)
  await api.release(second.id)
  berth.setSpeed(speed)
  const gone = await machine.until('prepaid, so it is kept', ({ status }) => status === 'terminated')
  tell(
    `Terminated: ${gone.terminationReason}. Berth counts $${gone.accruedCost.toFixed(2)}: eight hours, and the minutes until it was given back.`,
  )
  return showLedger(berth, line) && isReused
}

const showOffers = async (api: ReturnType<typeof apiClient>, line: ProgressLine) => {
  const { offers, errors } = await api.offers('gpu=MI300X:8')
  for (const {
    backend,
    region,
    instanceType,
    resources,
    pricePerHour,
    minimumReservationMinutes,
    minimumCharge,
  } of offers) {
    const { cpu, memoryGb, diskGb, gpu } = resources
    line.say(`  ${backend} (${region})  ${instanceType}  $${pricePerHour.toFixed(2)} an hour`)
    line.say(
      `    ${cpu.count} ${cpu.arch} CPUs, ${memoryGb} GB, ${gpu?.count} x ${gpu?.name} ${gpu?.memoryGb} GB, disk ${diskGb} GB`,
    )
    line.say(`    minimum ${minimumReservationMinutes / 60} h = $${minimumCharge.toFixed(2)}`)
  }
  for (const { backend, message } of errors) line.say(`  ${backend}: ${message}`)
}

const chargedSoFar = (berth: LocalBerth): number =>
  (berth.clouds?.hotaisle.ledger() ?? []).reduce(
    (sum, entry) => sum + entry.chargedCents(berth.context.clock.now()),
    0,
  )

/** The cloud's own bill: what it says counts. True for one machine that was charged once and is gone. */
const showLedger = (berth: LocalBerth, line: ProgressLine): boolean => {
  const now = berth.context.clock.now()
  const entries = berth.clouds?.hotaisle.ledger() ?? []
  const left = entries.filter(({ endedAt }) => endedAt === null).length
  line.say("\nThe cloud's own ledger:")
  for (const entry of entries) {
    const hours = (((entry.endedAt ?? now) - entry.startedAt) / 3_600_000).toFixed(2)
    const charged = formatDollars(entry.chargedCents(now))
    line.say(
      `  ${entry.name}: ${hours} h at ${formatDollars(entry.pricePerHourCents)} an hour, charged ${charged}`,
    )
  }
  const rented = entries.length === 1 ? 'one machine, one charge' : `${entries.length} machines`
  line.say(`  ${rented}, ${left === 0 ? 'none' : left} left.`)
  return entries.length === 1 && left === 0
}
