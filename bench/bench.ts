import { bundleStarts } from './bundle-starts.ts'
import { commandStarts } from './command-starts.ts'
import { deployedUnits } from './deployed-units.ts'
import { lifecycleUnits } from './lifecycle-units.ts'
import { localTimes } from './local-times.ts'
import { sweepUnits } from './sweep-units.ts'

/** Figures, not tests: units are exact and repeatable, times are of this machine at this moment. */
// First, while this process is small, since it is copied for each that it starts.
const help = commandStarts()
const vm = await lifecycleUnits('vm-mi300x-1')
const bareMetal = await lifecycleUnits('bm-mi300x-8')
const sweepOfNothing = await sweepUnits(10_000, 0)
const sweepOfHundred = await sweepUnits(10_000, 100)
const deployed = await deployedUnits()
const { requestToIdle, offers } = await localTimes()

// Last, so that the engines of the others have ended.
const starts = await bundleStarts()

const rows = [
  ['write units of one lifecycle, VM', vm.writeUnits, 30],
  ['read units of one lifecycle, VM', vm.readUnits, 30],
  ['write units of one lifecycle, bare metal', bareMetal.writeUnits, 30],
  ['read units of one lifecycle, bare metal', bareMetal.readUnits, 30],
  ['read units of one sweep, 10,000 instances, none due', sweepOfNothing.readUnits, 16],
  ['read units of one sweep, 10,000 instances, 100 due', sweepOfHundred.readUnits, undefined],
  ['read units of a sweep at rest', deployed.idleSweep.read, undefined],
  ['read units of reconcile at rest, one cloud', deployed.idleReconcile.read, undefined],
  ['read units of keep-fleets without fleets', deployed.idleKeepFleets.read, undefined],
  ["write units of a VM's hour, looked at each minute", deployed.hour.write, undefined],
  ["read units of a VM's hour, looked at each minute", deployed.hour.read, undefined],
  ['request to idle, median, ms', requestToIdle.medianMs, 2000],
  ["GET /offers warm, p99 over the cloud's own time, ms", offers.overCloudP99Ms, 20],
  ['berth --help, median, ms', help.helpMs, 150],
  ['berth --help, ratio to node -e 0', help.ratio, undefined],
] as const

console.table(rows.map(([figure, measured, aim]) => ({ figure, measured, aim: aim ?? '' })))
console.table(starts.map((row) => ({ ...row, aim: row.name === 'empty-handler' ? '' : row.oci ? 2.5 : 1.5 })))
console.log(
  JSON.stringify(
    {
      lifecycle: [vm, bareMetal],
      sweep: [sweepOfNothing, sweepOfHundred],
      deployed,
      requestToIdle,
      offers,
      help,
      starts,
    },
    null,
    2,
  ),
)
process.exit(0)
