import * as z from 'zod'
import { NoAnswer, openApi } from './api.ts'
import { askFirst, mustBeAsked } from './ask.ts'
import { Failure } from './failure.ts'
import { appliedFleet, type FleetPlan } from './fleet-answers.ts'
import { readFleetFile } from './fleet-file.ts'
import { minimumOf, whyMissing } from './offer.ts'
import { printer } from './print.ts'
import type { Work } from './surroundings.ts'
import { dollars } from './words.ts'

const options = z.object({
  file: z.string(),
  name: z.string().optional(),
  plan: z.boolean().default(false),
  yes: z.boolean().default(false),
  json: z.boolean().default(false),
})

const nothing = 'Nothing was changed.'

/** `berth apply -f FILE` */
export const apply: Work = async (at, { options: written }) => {
  const given = options.parse(written)
  const { name, body } = readFleetFile(at.folder, given.file, given.name)
  if (!given.plan && !given.yes) mustBeAsked(at, nothing)
  const api = openApi(at, written)
  const print = printer(at)
  const path = `/fleets/${encodeURIComponent(name)}`
  // What is wrong is a key of the file, not an option.
  const sent = { body, fieldName: (field: string) => `${given.file}, ${field}` }
  const planned = await api.call(appliedFleet, 'PUT', `${path}?plan=true`, sent)
  const { plan } = planned.value
  if (given.plan && given.json) return print.json(planned.raw)
  printPlan(given.plan ? print : printer({ out: at.err, err: at.err }), name, plan)
  if (given.plan) return
  const isSame = plan.action === 'none' && plan.create.length === 0 && plan.remove.length === 0
  if (isSame) return given.json ? print.json(planned.raw) : print.tell(`Fleet ${name} is as the file says.`)
  if (!given.yes) await askFirst(at, `Apply fleet ${name}?`, nothing)
  try {
    const applied = await api.call(appliedFleet, 'PUT', path, sent)
    if (given.json) return print.json(applied.raw)
    print.tell(`Fleet ${name} is applied. See how its nodes come: berth fleets`)
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    throw new Failure('failed', error.message, [
      'Whether the fleet was applied is not known. The same command again changes nothing that is done already.',
    ])
  }
}

const printPlan = (print: ReturnType<typeof printer>, name: string, plan: FleetPlan) => {
  const rows = [
    ...plan.create.map(({ name: node, offer }) => [
      node,
      print.styled('green', 'create'),
      ...(offer
        ? [
            `${offer.backend} (${offer.region})`,
            offer.instanceType,
            dollars(offer.pricePerHour),
            minimumOf(offer),
          ]
        : ['none can be had now', '-', '-', '-']),
    ]),
    ...plan.keep.map((node) => rowOf('keep', node)),
    ...plan.remove.map((node) => rowOf(print.styled('red', 'remove'), node)),
  ]
  if (rows.length > 0) {
    print.table(['NODE', 'WHAT', 'BACKEND', 'INSTANCE TYPE', 'PRICE', 'MINIMUM'], rows)
    print.tell('')
  }
  for (const { name: node, message } of plan.remove) print.tell(`${node}: ${message}`)
  for (const line of costLines(name, plan)) print.tell(line)
  for (const message of plan.messages) print.tell(`- ${message}`)
  for (const error of plan.errors)
    print.note(
      whyMissing(
        error,
        plan.create.flatMap(({ offer }) => offer ?? []),
      ),
    )
}

const rowOf = (what: string, node: FleetPlan['keep'][number]): string[] => [
  node.name,
  what,
  node.backend === null ? '-' : `${node.backend} (${node.region})`,
  node.instanceType ?? '-',
  dollars(node.pricePerHour),
  '-',
]

const costLines = (name: string, plan: FleetPlan): string[] => {
  const minimum = plan.minimumCharge > 0 ? `, and ${dollars(plan.minimumCharge)} is charged at once` : ''
  return [
    ...(plan.create.length > 0
      ? [`What is created costs ${dollars(plan.pricePerHour)} an hour${minimum}.`]
      : []),
    `Fleet ${name} then costs ${dollars(plan.totalPerHour)} an hour (${dollars(plan.totalPerHour * 24)} a day), used or not.`,
  ]
}
