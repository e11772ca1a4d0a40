import { callsApi, command, type Make } from './command.ts'

export const applyCommand: Make = (at, it) =>
  callsApi(
    command(at, {
      ...it,
      description:
        'Makes or changes a fleet after its file. Shows which nodes are created, kept and removed and what the fleet costs then, and asks.',
      examples: [
        ['berth apply -f fleet.dstack.yml', 'shows the plan, and asks'],
        ['berth apply -f fleet.dstack.yml --plan', 'shows the plan alone'],
        ['berth apply -f fleet.dstack.yml -y', 'does not ask; for scripts'],
      ],
      work: async () => (await import('../apply.ts')).apply,
    })
      .requiredOption('-f, --file <file>', 'the fleet file')
      .option('--name <name>', 'name of the fleet; default: as in the file')
      .option('--plan', 'show what would be done, and do nothing')
      .option('-y, --yes', 'do not ask'),
  )

export const fleetsCommand: Make = (at, it) =>
  callsApi(
    command(at, {
      ...it,
      examples: [['berth fleets', 'what they have, and why something is missing']],
      work: async () => (await import('../fleets.ts')).fleets,
    }),
  )

export const deleteCommand: Make = (at, it) =>
  callsApi(
    command(at, {
      ...it,
      description:
        'Deletes a fleet. Its machines are given back when nobody holds them and nothing of them is prepaid any more.',
      examples: [['berth delete amd', 'says when each node goes, and asks']],
      work: async () => (await import('../fleets.ts')).deleteFleet,
    })
      .argument('<fleet>', 'name of the fleet')
      .option('-y, --yes', 'do not ask'),
  )
