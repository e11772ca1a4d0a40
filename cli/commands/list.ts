import { Command } from 'commander'
import type { Make, Named } from './command.ts'

type Entry = Named & {
  /** What the list shows behind the name. */
  takes?: string
  load: () => Promise<Make>
}

/** All commands, in the order of the help. What they take is loaded for those that are called, and for completion. */
export const commandGroups: { heading: string; entries: Entry[] }[] = [
  {
    heading: 'Machines:',
    entries: [
      {
        name: 'offer',
        summary: 'what can be rented now, and what it costs',
        load: async () => (await import('./offers.ts')).offerCommand,
      },
      {
        name: 'rent',
        summary: 'rent one machine, or take an idle one that fits',
        load: async () => (await import('./rent.ts')).rentCommand,
      },
      { name: 'ps', summary: 'what is rented', load: async () => (await import('./instances.ts')).psCommand },
      {
        name: 'show',
        summary: 'one instance, with its history',
        takes: '<name>',
        load: async () => (await import('./instances.ts')).showCommand,
      },
      {
        name: 'ssh',
        summary: 'open a session on a machine, or run a command there',
        takes: '<name> [command...]',
        load: async () => (await import('./instances.ts')).sshCommand,
      },
      {
        name: 'claim',
        summary: 'take an idle instance, or hold your own longer',
        takes: '<name>',
        load: async () => (await import('./instances.ts')).claimCommand,
      },
      {
        name: 'release',
        summary: 'end your claim; the machine stays, idle',
        takes: '<name>',
        load: async () => (await import('./instances.ts')).releaseCommand,
      },
      {
        name: 'stop',
        summary: 'end an instance, and give its machine back',
        takes: '<name>',
        load: async () => (await import('./instances.ts')).stopCommand,
      },
      {
        name: 'reservations',
        summary: 'what is prepaid, and until when',
        load: async () => (await import('./instances.ts')).reservationsCommand,
      },
    ],
  },
  {
    heading: 'Fleets:',
    entries: [
      {
        name: 'apply',
        summary: "make a fleet what its file says, as dstack's",
        load: async () => (await import('./fleets.ts')).applyCommand,
      },
      {
        name: 'fleets',
        summary: 'the fleets, with their nodes',
        load: async () => (await import('./fleets.ts')).fleetsCommand,
      },
      {
        name: 'delete',
        summary: 'delete a fleet, and give its machines back',
        takes: '<fleet>',
        load: async () => (await import('./fleets.ts')).deleteCommand,
      },
    ],
  },
  {
    heading: 'This Berth:',
    entries: [
      {
        name: 'cost',
        summary: 'what a month costs, and what of the limits is used',
        load: async () => (await import('./setup.ts')).costCommand,
      },
      {
        name: 'doctor',
        summary: 'what is wrong, and how to mend it',
        load: async () => (await import('./setup.ts')).doctorCommand,
      },
      {
        name: 'keys',
        summary: 'API keys: who may call this Berth',
        load: async () => (await import('./keys.ts')).keysCommand,
      },
      {
        name: 'completion',
        summary: 'a script that lets your shell complete berth',
        takes: '<shell>',
        load: async () => (await import('./setup.ts')).completionCommand,
      },
    ],
  },
]

/** A command with no more than the list of all needs. */
export const listedCommand = ({ name, summary, takes }: Entry): Command => {
  const listed = new Command(name).summary(summary)
  return takes === undefined ? listed : listed.arguments(takes)
}
