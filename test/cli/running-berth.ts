import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import * as z from 'zod'
import type { LocalBerth } from '../../sandbox/local/local-berth.ts'
import { type Called, createUser, startBerth } from './stage.ts'

const shown = z.object({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  holder: z.string().nullable(),
})
type Shown = z.infer<typeof shown>

/** A user of the command and a whole Berth to call, from before the first test of a file until after its last. */
export const runningBerth = () => {
  const user = createUser()
  const { berth } = user
  let started: LocalBerth | undefined
  beforeAll(async () => {
    started = await startBerth(user)
  }, 60_000)
  afterAll(async () => {
    await started?.stop()
    user.remove()
  })
  const api = (): LocalBerth => {
    if (!started) throw new Error('Berth has not been started yet')
    return started
  }
  return {
    user,
    berth,
    api,
    /** Rents a small machine, and waits for it unless told otherwise. */
    rent: async (...more: string[]): Promise<Shown> => {
      const { code, out, err } = await berth(['rent', '--gpu', 'MI300X:1', '-y', '--json', ...more])
      expect({ code, err }).toMatchObject({ code: 0 })
      return readInstance(out)
    },
    named: async (name: string): Promise<Shown[]> => {
      const { out } = await berth(['ps', '--all', '--json'])
      const { instances } = z.object({ instances: z.array(shown) }).parse(JSON.parse(out))
      return instances.filter((each) => each.name === name)
    },
    /** How many machines the simulated Hot Aisle has ever let. */
    rentals: () => api().clouds?.hotaisle.ledger().length,
    /** The same command with another API than that of the folder. */
    at: (url: string, key = api().apiKey) => ({
      env: { ...process.env, BERTH_URL: url, BERTH_API_KEY: key },
    }),
    /** In a process of its own, whose terminal a session has. */
    inProcess: (words: string[], path: string) =>
      new Promise<Called>((resolve) => {
        execFile(
          process.execPath,
          [join(process.cwd(), 'cli/berth.js'), ...words],
          { cwd: user.folder, env: { HOME: user.home, PATH: path } },
          (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
        )
      }),
  }
}

/** An instance as `--json` prints it. */
export const readInstance = (text: string): Shown => shown.parse(JSON.parse(text))
