import { execFileSync } from 'node:child_process'

const tries = 20

/**
 * How long `berth --help` takes from the start of its process to its end, in ms, and as a ratio to a Node that does
 * nothing. In turn, so that noise hits both alike; the first round fills the cache of compiled code.
 */
export const commandStarts = () => {
  const cases = [
    { name: 'node -e 0', args: ['-e', '0'], times: [] as number[] },
    { name: 'berth --help', args: ['cli/berth.js', '--help'], times: [] as number[] },
  ]
  for (let round = 0; round <= tries; round++) {
    for (const { args, times } of cases) {
      const start = performance.now()
      execFileSync(process.execPath, args, { stdio: 'ignore' })
      if (round > 0) times.push(performance.now() - start)
    }
  }
  const [node = 0, berth = 0] = cases.map(({ times }) => median(times))
  return {
    tries,
    nodeMs: rounded(node),
    helpMs: rounded(berth),
    ratio: Math.round((berth / node) * 100) / 100,
  }
}

const median = (times: number[]): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0

const rounded = (value: number) => Math.round(value * 10) / 10
