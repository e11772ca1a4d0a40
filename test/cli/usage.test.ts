import type { Command } from 'commander'
import { afterAll, describe, expect, test } from 'vitest'
import { berthProgram } from '../../cli/program.ts'
import { createUser } from './stage.ts'

const user = createUser()
afterAll(user.remove)

const surroundings = user.surroundings(process.stdout, process.stderr)
const program = await berthProgram(
  surroundings,
  () => true,
  () => {},
)
const topics = ['access', 'exit-codes']
/** Every command that does something, with the words that call it. */
const leaves = (top: Command, words: string[] = []): { name: string; words: string[]; command: Command }[] =>
  top.commands.length === 0
    ? [{ name: words.join(' '), words, command: top }]
    : top.commands.flatMap((each) => leaves(each, [...words, each.name()]))
const commands = leaves(program).filter(({ name }) => !topics.includes(name))
const optionsOf = ({ options }: Command) => options.flatMap(({ long }) => long ?? [])

describe.each(commands)('berth $name', ({ name, words, command }) => {
  const argumentsOf = command.registeredArguments.map((each) => each.argChoices?.[0] ?? 'something')
  const mandatory = command.options.flatMap((each) =>
    each.mandatory && each.long ? [each.long, each.argChoices?.[0] ?? 'something'] : [],
  )

  test('with an option of its own says which there are', async () => {
    const { code, out, err } = await user.berth([...words, ...argumentsOf, ...mandatory, '--nothing-like-it'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain("unknown option '--nothing-like-it'")
    for (const option of optionsOf(command)) expect(err).toContain(option)
    expect(err).toContain(`See: berth ${name} --help`)
  })

  test('with a word too many or too few says what it takes', async () => {
    const isOpen = command.registeredArguments.some(({ variadic }) => variadic)
    const given = isOpen ? mandatory : [...argumentsOf, ...mandatory, 'too-much']
    const { code, out, err } = await user.berth([...words, ...given])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(isOpen ? /missing required argument/ : /too many arguments/)
    expect(err).toContain(`Usage: berth ${name}`)
  })

  test('with a value that is none of its choices names them', async () => {
    for (const option of command.options.filter(({ argChoices }) => argChoices)) {
      const { code, err } = await user.berth([...words, ...argumentsOf, option.long ?? '', 'odd'])
      expect(code).toBe(2)
      expect(err).toContain(`Allowed choices are ${option.argChoices?.join(', ')}`)
    }
  })

  test('has help with an example of itself', async () => {
    const { code, out, err } = await user.berth([...words, '--help'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(new RegExp(`Examples:\\n +\\S*.*berth ${name}`))
    if (name !== 'completion') expect(out).toContain('--json')
  })
})

test('every command can say what it says to people in JSON, but for the script for a shell', () => {
  const without = commands.filter(({ command }) => !optionsOf(command).includes('--json'))
  expect(without.map(({ name }) => name)).toEqual(['completion'])
})

test('the list of all says of each command what the command itself says', async () => {
  const listed = await berthProgram(
    surroundings,
    () => false,
    () => {},
  )
  expect(listed.helpInformation()).toBe(program.helpInformation())
})

test('a command that does not exist is told, with those that do', async () => {
  const { code, err } = await user.berth(['ofer'])
  expect(code).toBe(2)
  expect(err).toContain('Did you mean offer?')
  expect(err).toContain('offer | rent | ps')
})

test.each(topics)('berth help %s is a page of its own', async (topic) => {
  const { code, out } = await user.berth(['help', topic])
  expect(code).toBe(0)
  expect(out.split('\n').length).toBeGreaterThan(5)
})

describe('values are checked before anything is sent', () => {
  const never: typeof fetch = async () => {
    throw new Error('nothing may be sent')
  }
  test.each([
    [['offer', '--gpu', 'MI300X:lots:'], '--gpu', 'MI300X:192GB:8'],
    [['offer', '--max-price', 'cheap'], '--max-price', 'write dollars per hour'],
    [['offer', '--memory', '12XB'], '--memory', '"80GB"'],
    [['rent', '-y', '--idle-duration', 'soon'], '--idle-duration', '"5m"'],
    [['rent', '-y', '--name', 'Big One'], '--name', 'lower-case'],
    [['rent', '-y', '--ssh-key', 'nowhere.pub'], '--ssh-key', 'there is no file'],
    [['rent', '-y', '--ssh-key', '~/.ssh/id_ed25519'], '--ssh-key', 'private key'],
    [['rent', '-y', '--no-claim', '--hold', '2h'], '--hold', 'claim'],
    [['claim', 'x', '--hold', 'off'], '--hold', '"2h"'],
    [['offer', '--spot', '--on-demand'], '--on-demand', '--spot'],
  ])('berth %j', async (words, option, right) => {
    const { code, out, err } = await user.berth(words, { fetch: never })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(option)
    expect(err).toContain(right)
  })
})
