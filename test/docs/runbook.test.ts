import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { alarms } from '../../lib/model/alarm.ts'

const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8')
const sections = new Map(
  runbook
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section] as const),
)

test.each([...alarms, 'Dead letters', 'API faults'])(
  'the runbook says of %s what it means and costs, what to do, and when it is over',
  (name) => {
    for (const part of ['**Meaning.**', '**Cost.**', '**What to do.**', '**Over**'])
      expect(sections.get(name)).toContain(part)
  },
)

test('the runbook has a page for nothing that is not told', () => {
  expect([...sections.keys()].sort()).toEqual(
    [...alarms, 'Dead letters', 'API faults', 'Keys and secrets', 'Deadlines'].sort(),
  )
})
