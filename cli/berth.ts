#!/usr/bin/env node
import { Command } from 'commander'
import { messageOf } from '../lib/model/errors.ts'
import { keysCommand } from './keys.ts'

const program = new Command('berth').description('Looks after a Berth').addCommand(
  keysCommand({
    now: () => Date.now(),
    tell: (line) => process.stdout.write(`${line}\n`),
    note: (line) => process.stderr.write(`${line}\n`),
    dynamoEndpoint: process.env.DYNAMODB_ENDPOINT,
  }),
)

program.parseAsync().catch((error: unknown) => {
  console.error(messageOf(error))
  process.exitCode = 1
})
