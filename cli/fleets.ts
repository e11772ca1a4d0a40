import * as z from 'zod'
import { openApi } from './api.ts'
import { askFirst, mustBeAsked } from './ask.ts'
import { type ShownFleet, shownFleet, shownFleets } from './fleet-answers.ts'
import { printer } from './print.ts'
import type { Work } from './surroundings.ts'
import { dollars, moment, prepaidUntil, shortMoment } from './words.ts'

const listOptions = z.object({ json: z.boolean().default(false) })
const deleteOptions = z.object({ yes: z.boolean().default(false), json: z.boolean().default(false) })

const nothing = 'Nothing was deleted.'

/** `berth fleets` */
export const fleets: Work = async (at, { options: written }) => {
  const { value, raw } = await openApi(at, written).call(shownFleets, 'GET', '/fleets')
  const print = printer(at)
  if (listOptions.parse(written).json) return print.json(raw)
  if (value.fleets.length === 0) return print.note('There is no fleet. See: berth apply --help')
  print.table(
    ['FLEET', 'NODE', 'BACKEND', 'INSTANCE TYPE', 'PRICE', 'STATUS', 'HOLDER', 'PREPAID UNTIL (UTC)'],
    value.fleets.flatMap(rowsOf),
  )
  for (const { name, missing, missingBecause } of value.fleets) {
    const nodes = missing === 1 ? '1 node is' : `${missing} nodes are`
    if (missing > 0) print.note(`${name}: ${nodes} missing: ${missingBecause ?? 'not known why'}`)
  }
}

/** `berth delete FLEET` */
export const deleteFleet: Work = async (at, { arguments: [name = ''], options: written }) => {
  const { yes, json } = deleteOptions.parse(written)
  if (!yes) mustBeAsked(at, nothing)
  const api = openApi(at, written)
  const print = printer(at)
  const path = `/fleets/${encodeURIComponent(name)}`
  if (!yes) {
    const { value, date } = await api.call(shownFleet, 'GET', path)
    for (const line of whatGoes(value, date ?? at.now())) print.note(line)
    await askFirst(at, `Delete fleet ${name}?`, nothing)
  }
  const { value, raw } = await api.call(shownFleet, 'DELETE', path)
  if (json) return print.json(raw)
  print.tell(`Fleet ${name} is ${value.status}.`)
  for (const node of value.nodes) print.tell(`  ${node.name}: ${node.message ?? node.status}`)
}

const rowsOf = ({ name, status, nodes }: ShownFleet): string[][] =>
  nodes.length === 0
    ? [[name, '-', '-', '-', '-', `no nodes (${status})`, '-', '-']]
    : nodes.map((node, index) => [
        index === 0 ? name : '',
        node.name,
        node.backend === null ? '-' : `${node.backend} (${node.region})`,
        node.instanceType ?? '-',
        dollars(node.pricePerHour),
        [node.phase ?? node.status, ...(status === 'active' ? [] : [`(${status})`])].join(' '),
        node.holder ?? '-',
        node.reservedUntil === null ? '-' : shortMoment(node.reservedUntil),
      ])

const whatGoes = ({ name, nodes, pricePerHour }: ShownFleet, now: number): string[] => [
  nodes.length === 0
    ? `Fleet ${name} has no nodes.`
    : `Fleet ${name} has ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'} at ${dollars(pricePerHour)} an hour:`,
  ...nodes.map((node) => {
    if (node.holder !== null) return `  ${node.name} goes when ${node.holder} has released it`
    const until = prepaidUntil(node, now)
    return `  ${node.name} goes ${until === undefined ? 'now' : `when its prepaid time ends, ${moment(until)}`}`
  }),
]
