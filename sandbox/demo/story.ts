import { newKeyPair } from '../../lib/shim/key-pair.ts'
import type { LocalBerth } from '../local/local-berth.ts'
import { apiClient } from './api-client.ts'
import { follow } from './follow.ts'
import { chargedSoFar, showLedger } from './ledger.ts'
import type { Plot } from './plots.ts'
import { type ProgressLine, progressLine } from './progress-line.ts'
import { arrive } from './renter.ts'

/** Tells one rental from the offer to the last line of the bill, in plain lines. False when something went wrong. */
export const tellStory = async (
  berth: LocalBerth,
  plot: Plot,
  speed: number,
  out: NodeJS.WriteStream,
): Promise<boolean> => {
  const { wanted } = plot
  const api = apiClient(berth)
  const line = progressLine(out)
  const clock = () => new Date(berth.context.clock.now()).toISOString().slice(11, 16)
  const tell = (text: string) => line.say(`${clock()}  ${text}`)
  const renter = newKeyPair()

  line.say('Berth on simulated clouds. Nothing here costs money, and time runs fast.')
  line.say(`\nOffers for gpu=${wanted.gpu}:`)
  await showOffers(api, wanted.gpu, line)

  line.say('')
  tell(`A request: gpu=${wanted.gpu}, ${wanted.instanceTypes[0]}, with the SSH key of its renter.`)
  const { id } = await api.rent({ ...wanted, name: 'trainer', sshKeys: [renter.publicKey] })
  const machine = follow({ api, id, line, clock })
  const ready = await machine.until('getting ready', ({ status }) => status === 'busy')
  tell(`The machine is claimed by its renter (${ready.holder}):`)
  tell(`  ssh ${ready.sshUsername}@${ready.hostname} -p ${ready.sshPort}`)

  const session = await arrive(ready, renter.privateKey, plot.countGpus)
  tell(`The renter is on the machine and sees ${session.sees}.`)
  await machine.untilSaid('the renter works', 'in use')
  tell('The renter leaves, and releases the machine.')
  session.leave()
  await api.release(id)
  if (plot.prepaid) await machine.untilSaid('idle', 'idle, and kept')

  tell('A second request that fits comes in.')
  const chargedBefore = chargedSoFar(berth)
  const second = await api.rent({ ...wanted, name: 'second' })
  await machine.until('taken again', ({ status }) => status === 'busy')
  const isReused = second.id === id && (!plot.prepaid || chargedSoFar(berth) === chargedBefore)
  const charge = plot.prepaid ? 'with no new charge' : 'nothing new is rented'
  tell(isReused ? `It gets the same machine, ${charge}.` : 'It does NOT get the same machine.')
  const keeps = plot.prepaid ? 'kept until its eight hours end' : 'given back after five idle minutes'
  tell(`It is released as well, and ${keeps}.${plot.prepaid ? ` Time now runs ${speed} times as fast.` : ''}`)
  await api.release(second.id)
  if (plot.prepaid) berth.setSpeed(speed)
  const waits = plot.prepaid ? 'prepaid, so it is kept' : 'idle'
  const gone = await machine.until(waits, ({ status }) => status === 'terminated')
  tell(`Terminated: ${gone.terminationReason}. Berth counts $${gone.accruedCost.toFixed(2)}.`)
  return showLedger(berth, line) && isReused
}

const showOffers = async (api: ReturnType<typeof apiClient>, gpu: string, line: ProgressLine) => {
  const { offers, errors } = await api.offers(`gpu=${gpu}`)
  for (const { backend, region, instanceType, resources, pricePerHour, ...offer } of offers) {
    const { cpu, memoryGb, diskGb, gpu } = resources
    const minimum =
      offer.minimumReservationMinutes > 0
        ? `minimum ${offer.minimumReservationMinutes / 60} h = $${offer.minimumCharge.toFixed(2)}`
        : `at least $${offer.minimumCharge.toFixed(2)}`
    line.say(`  ${backend} (${region})  ${instanceType}  $${pricePerHour.toFixed(2)} an hour, ${minimum}`)
    line.say(
      `    ${cpu.count} ${cpu.arch} CPUs, ${memoryGb} GB, ${gpu?.count} x ${gpu?.name} ${gpu?.memoryGb} GB, disk ${diskGb} GB, ${offer.availability}`,
    )
  }
  for (const { backend, message } of errors) line.say(`  ${backend}: ${message}`)
}
