import type { ObservedHardware } from '../model/hardware.ts'
import { parseAmdSmi, parseNvidiaSmi, parseRocmSmi, type SeenGpus } from './gpu-tools.ts'
import { parseSections, type Section, sectionPrelude, wellSaid } from './shell.ts'

/** One shell command that asks a machine what it is; `parseHardware` reads its output. */
export const hardwareCommand = `${sectionPrelude}
section arch uname -m
section cpus nproc
section cores lscpu --parse=CORE,SOCKET
section memory cat "$root/proc/meminfo"
section disk df -B1 -P /
section mounts cat "$root/proc/mounts"
if tool=$(find_tool nvidia-smi); then
  section nvidia privileged "$tool" --query-gpu=name,memory.total,uuid,driver_version --format=csv,noheader,nounits
fi
amd() {
  tool=$(find_tool amd-smi) && {
    section amd privileged "$tool" static --asic --vram --bus --driver --json ||
      section amd-old privileged "$tool" static --asic --vram --bus --json
  }
}
rocm() {
  tool=$(find_tool rocm-smi) &&
    section rocm privileged "$tool" --showproductname --showmeminfo vram --showdriverversion --json
}
amd || rocm
`

/** What the machine says of itself. A part that it doesn't say is missing; of GPUs, `gpuError` says why. */
export const parseHardware = (output: string): ObservedHardware => {
  const sections = parseSections(output)
  const arch = wellSaid(sections.get('arch'))
  return {
    arch: arch === 'x86_64' ? 'x86' : arch === 'aarch64' ? 'arm' : undefined,
    cpus: wholeNumber(wellSaid(sections.get('cpus'))),
    cores: countCores(wellSaid(sections.get('cores'))),
    memoryGb: memoryGb(wellSaid(sections.get('memory'))),
    diskGb: rootSizeGb(wellSaid(sections.get('disk'))),
    localDisks: mountedDisks(wellSaid(sections.get('mounts'))),
    ...gpus(sections),
  }
}

const gpus = (sections: Map<string, Section>): Partial<ObservedHardware> => {
  const tools = [
    { name: 'nvidia', vendor: 'nvidia', parse: parseNvidiaSmi },
    { name: 'amd', vendor: 'amd', parse: parseAmdSmi },
    { name: 'amd-old', vendor: 'amd', parse: parseAmdSmi },
    { name: 'rocm', vendor: 'amd', parse: parseRocmSmi },
  ] as const
  const errors: string[] = []
  for (const { name, vendor, parse } of tools) {
    const section = sections.get(name)
    // 126 and 127: the tool can't be run, as where it isn't there.
    if (!section || section.status === 126 || section.status === 127) continue
    const seen = section.status === 0 ? parse(section.text) : undefined
    if (seen) return { gpuVendor: vendor, ...observed(seen) }
    const words = section.text.replace(/\s+/g, ' ').slice(0, 300)
    errors.push(
      `the ${vendor === 'nvidia' ? 'NVIDIA' : 'AMD'} tool says: ${words || `exit ${section.status}`}`,
    )
  }
  return { gpuError: errors[0] ?? 'neither nvidia-smi nor amd-smi nor rocm-smi is there' }
}

/** GPUs of several kinds keep all their names, so that they match no offer; one unread value leaves all unread. */
const observed = (seen: SeenGpus): Partial<ObservedHardware> => {
  const names = new Set(seen.map((gpu) => gpu.name))
  const sizes = seen.flatMap((gpu) => (gpu.memoryGb === undefined ? [] : [gpu.memoryGb]))
  const [driverVersion] = seen.flatMap((gpu) => gpu.driverVersion ?? [])
  return {
    gpuCount: seen.length,
    gpuName: names.has(undefined) ? undefined : [...names].join(', '),
    gpuMemoryGb: sizes.length === seen.length ? Math.min(...sizes) : undefined,
    driverVersion,
  }
}

/** `lscpu --parse` writes a line for each thread: its core and socket. */
const countCores = (text: string | undefined) => {
  const lines = (text ?? '').split('\n').filter((line) => /^\d+,\d*$/.test(line.trim()))
  return lines.length === 0 ? undefined : new Set(lines).size
}

const wholeNumber = (text: string | undefined) =>
  text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined

const memoryGb = (meminfo: string | undefined) => {
  const kib = /^MemTotal:\s+(\d+) kB$/m.exec(meminfo ?? '')?.[1]
  return kib === undefined ? undefined : inGb(Number(kib) * 1024)
}

const rootSizeGb = (df: string | undefined) => {
  const bytes = df?.split('\n').at(-1)?.trim().split(/\s+/)[1]
  return bytes !== undefined && /^\d+$/.test(bytes) ? inGb(Number(bytes)) : undefined
}

const mountedDisks = (mounts: string | undefined) =>
  mounts
    ?.split('\n')
    .flatMap((line) => line.split(' ')[1] ?? [])
    .filter((path) => path.startsWith('/mnt/'))
    .sort()

const inGb = (bytes: number) => Math.round((bytes / 2 ** 30) * 100) / 100
