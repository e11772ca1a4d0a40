import * as z from 'zod'
import { messageOf } from '../lib/model/errors.ts'
import { readFlags } from './local/flags.ts'
import { startLocalBerth } from './local/local-berth.ts'
import { plainLog } from './local/plain-log.ts'
import { untilAsked } from './local/until-asked.ts'

const usage = `Usage: npm start [-- options]

  --port 8377          port of the API on 127.0.0.1
  --config berth.yml   rent on real clouds, which costs real money; without it the clouds are simulated
  --data .berth        folder for what is kept; started again on it, Berth goes on where it was
  --speed 1            how many times as fast the time of the simulated clouds runs

Environment: BERTH_SWEEP_SECONDS shortens the pause between two sweeps, DYNAMODB_ENDPOINT uses another engine.`

const flags = {
  port: z.coerce.number('a port number').int().min(0).max(65_535).default(8377),
  config: z.string().min(1).optional(),
  data: z.string().min(1).default('.berth'),
  speed: z.coerce.number('a number from 1 to 10000').min(1).max(10_000).default(1),
}
const environment = z.object({
  BERTH_SWEEP_SECONDS: z.coerce.number().min(1).max(3600).optional(),
  DYNAMODB_ENDPOINT: z.url().optional(),
})

const main = async () => {
  const options = readFlags(flags, usage)
  const env = environment.parse(process.env)
  const berth = await startLocalBerth({
    ...options,
    sweepSeconds: env.BERTH_SWEEP_SECONDS,
    dynamoEndpoint: env.DYNAMODB_ENDPOINT,
    log: plainLog(process.stdout, process.stderr),
  })
  for (const warning of berth.warnings) console.error(`Warning: ${warning}`)
  console.log(`Berth is ready on ${berth.url}`)
  console.log(
    options.config
      ? `Clouds: as in ${options.config}. What is rented costs real money.`
      : `Clouds: simulated, nothing costs money. Their ledgers: ${berth.clouds?.ledgers.join(' and ')}`,
  )
  console.log(
    `The API key is in ${options.data}/client.json. Stop with Ctrl-C; nothing that is rented is lost by it.`,
  )
  await untilAsked()
  await berth.stop()
}

main().catch((error: unknown) => {
  console.error(`Berth did not start. ${messageOf(error)}`)
  process.exit(1)
})
