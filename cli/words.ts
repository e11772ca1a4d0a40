/** "$27.12", or "-" where there is none. */
export const dollars = (amount: number | null | undefined): string =>
  amount === null || amount === undefined ? '-' : `$${amount.toFixed(2)}`

/** Minutes as people say them: 480 is "8h", 90 is "1h 30m". */
export const minutesInWords = (minutes: number): string => {
  const hours = Math.floor(minutes / 60)
  const parts = [hours > 0 ? `${hours}h` : '', minutes % 60 > 0 ? `${Math.round(minutes % 60)}m` : '']
  return parts.filter(Boolean).join(' ') || '0m'
}

/** Seconds as they count up: 95 is "1:35". */
export const stopwatch = (ms: number): string => {
  const seconds = Math.floor(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** "2026-12-01 05:23 UTC", from the API's ISO time. */
export const moment = (iso: string | null | undefined): string =>
  iso ? `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC` : '-'

/** "12-01 05:23", for columns whose head says UTC. */
export const shortMoment = (iso: string): string => `${iso.slice(5, 10)} ${iso.slice(11, 16)}`

/** Until when it is prepaid; undefined where nothing is, or no longer. */
export const prepaidUntil = (
  { reservedUntil }: { reservedUntil: string | null },
  now: number,
): string | undefined =>
  reservedUntil !== null && Date.parse(reservedUntil) > now ? reservedUntil : undefined

type Machine = {
  cpu: { arch: string; count: number }
  memoryGb: number
  diskGb: number
  gpu: { name: string; memoryGb: number; count: number } | null
  spot: boolean
}

/** As dstack writes them: `cpu=x86:104 mem=2048GB disk=447GB gpu=MI300X:192GB:8`. */
export const resourcesInWords = ({ cpu, memoryGb, diskGb, gpu, spot }: Machine): string =>
  [
    `cpu=${cpu.arch}:${cpu.count}`,
    `mem=${size(memoryGb)}`,
    `disk=${size(diskGb)}`,
    ...(gpu ? [`gpu=${gpu.name}:${size(gpu.memoryGb)}:${gpu.count}`] : []),
    ...(spot ? ['(spot)'] : []),
  ].join(' ')

const size = (gb: number) => `${Math.round(gb * 100) / 100}GB`
