import { existsSync, readFileSync } from 'node:fs'
import writeFileAtomic from 'write-file-atomic'
import type * as z from 'zod'

/** What a simulated cloud remembers, as it was last saved; undefined where there is none. Throws on another file. */
export const loadStateFile = <State>(file: string, schema: z.ZodType<State>): State | undefined =>
  existsSync(file) ? schema.parse(JSON.parse(readFileSync(file, 'utf8'))) : undefined

/** Written before an answer goes out, so that a process that is killed has promised nothing it forgets. */
export const saveStateFile = (file: string, state: object): void =>
  writeFileAtomic.sync(file, JSON.stringify(state, null, 2), { mode: 0o600, fsync: false })
