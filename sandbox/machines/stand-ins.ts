import { fileURLToPath } from 'node:url'
import { quote } from '../../lib/shim/shell.ts'
import type { MachineHardware } from './machine-host.ts'

/** The commands that stand before the real ones on a simulated machine's PATH: name and text of each script. */
export const standIns = (hardware: MachineHardware): Record<string, string> => ({
  ...system,
  ...network,
  uname: `${head}if [ "$*" = -m ]; then echo ${hardware.arch}; else exec /usr/bin/uname "$@"; fi\n`,
  nproc: `#!/bin/sh\necho ${hardware.cpus}\n`,
  lscpu: `#!/bin/sh\nfor thread in $(seq 0 ${hardware.cpus - 1}); do echo "$((thread / ${hardware.threadsPerCore ?? 1})),0"; done\n`,
  df: `#!/bin/sh
echo 'Filesystem 1-blocks Used Available Capacity Mounted on'
echo '/dev/disk0 ${hardware.rootDiskBytes} 0 ${hardware.rootDiskBytes} 0% /'
`,
  lsblk: `#!/bin/sh\necho ${quote(JSON.stringify({ blockdevices: blockDevices(hardware) }))}\n`,
  ...gpuTools(hardware.gpus),
})

const head = `#!/bin/sh
state="\${BERTH_ROOT%/root}/state"
am_root() { [ "$(id -u)" = 0 ]; }
`

const system = {
  id: `#!/bin/sh
if [ "$*" = -u ]; then
  if [ "$USER" = root ] || [ -n "$BERTH_SUDO" ]; then echo 0; else echo 1000; fi
else
  exec /usr/bin/id "$@"
fi
`,
  // As the real one with its usual settings: the environment is cleared but for what names the machine.
  sudo: `#!/bin/sh
[ "$1" != -n ] || shift
exec /usr/bin/env -i PATH="$PATH" HOME="$HOME" USER=root BERTH_ROOT="$BERTH_ROOT" BERTH_SUDO=1 "$@"
`,
  systemctl: `#!/bin/bash
state="\${BERTH_ROOT%/root}/state"
case "$1" in
  is-active | is-enabled | status) ;;
  *) [ "$(id -u)" = 0 ] || { echo 'Interactive authentication required.' >&2; exit 4; } ;;
esac
exec 3<>"/dev/tcp/127.0.0.1/$(cat "$state/control-port")" || exit 1
printf 'systemctl %s\\n' "$*" >&3
read -r code <&3
cat <&3
exit "\${code:-1}"
`,
  docker: `${head}case "$1" in
  --version) echo 'Docker version 27.3.1, build ce12230' ;;
  info) echo 'Server Version: 27.3.1' ;;
  ps) echo 'CONTAINER ID   IMAGE   COMMAND   CREATED   STATUS   PORTS   NAMES' ;;
  *) echo "docker: '$1' is not a docker command." >&2; exit 1 ;;
esac
`,
}

/** Runs the agent's stand-in; its version is that of the address that it came from. */
const agentProgram = `#!/bin/sh
# from $url
exec ${quote(process.execPath)} ${quote(fileURLToPath(new URL('./agent.ts', import.meta.url)))} '$version'`

const network = {
  // Writes the "download" of the two binaries; every other address is unknown to it.
  curl: `${head}out= url= fail=
while [ $# -gt 0 ]; do
  case "$1" in
    --fail) fail=1 ;;
    -o | --output) out=$2; shift ;;
    --retry | --retry-* | --max-time | --connect-timeout) shift ;;
    --*) ;;
    -*o) case "$1" in *f*) fail=1 ;; esac; out=$2; shift ;;
    -*) case "$1" in *f*) fail=1 ;; esac ;;
    *) url=$1 ;;
  esac
  shift
done
echo "$url" >>"$state/downloads"
if [ -e "$state/download-fault" ]; then
  code=$(cat "$state/download-fault")
  if [ -n "$fail" ]; then
    echo "curl: (22) The requested URL returned error: $code" >&2
    exit 22
  fi
  echo "<html><body>$code</body></html>" >"$out"
  exit 0
fi
version=$(printf '%s' "$url" | sed -n 's#.*/\\([0-9][0-9A-Za-z.+-]*\\)/.*#\\1#p')
case "$url" in
  *dstack-shim*) cat >"$out" <<END
${agentProgram}
END
    ;;
  *dstack-runner*) printf '#!/bin/sh\\n# from %s\\nexit 0\\n' "$url" >"$out" ;;
  *) echo "curl: (6) Could not resolve host: $url" >&2; exit 6 ;;
esac
`,
  // Enabled without a rule for SSH, the machine lets nobody in any more: see ssh-server.ts.
  ufw: `${head}am_root || { echo 'ERROR: You need to be root to run this script' >&2; exit 1; }
rule() {
  grep -qxF "$1" "$state/ufw-rules" 2>/dev/null && { echo 'Skipping adding existing rule'; return; }
  echo "$1" >>"$state/ufw-rules"
  echo 'Rules updated'
}
force=
[ "$1" != --force ] || { force=1; shift; }
case "$*" in
  'allow ssh' | 'allow OpenSSH') rule 'allow 22/tcp' ;;
  'allow from '[0-9]*/[0-9]*) rule "$*" ;;
  'allow '[0-9]* | 'deny '[0-9]*) rule "$*" ;;
  'default '*' incoming' | 'default '*' outgoing') echo "$2" >"$state/ufw-default-$3" ;;
  enable)
    [ -n "$force" ] || { read -r answer; [ "$answer" = y ] || { echo Aborted; exit 1; }; }
    : >"$state/ufw-enabled"
    echo 'Firewall is active and enabled on system startup' ;;
  disable) rm -f "$state/ufw-enabled" ;;
  status)
    [ -e "$state/ufw-enabled" ] && echo 'Status: active' || echo 'Status: inactive'
    cat "$state/ufw-rules" 2>/dev/null || true ;;
  *) echo 'ERROR: Invalid syntax' >&2; exit 1 ;;
esac
`,
  // Only root is shown the processes. The one filter it knows is the port of this machine's own sshd.
  ss: `${head}case "$*" in *"state established ( sport = :$(cat "$state/ssh-port") )"*) ;; *) exit 0 ;; esac
case "$1" in *p*) am_root && { cat "$state/sockets"; exit; } ;; esac
sed 's/ *users:.*//' "$state/sockets"
`,
}

const gpuTools = (gpus: MachineHardware['gpus']): Record<string, string> => {
  // Not there, as far as anyone can tell: a real tool of the host must not be found in its place.
  const missing = '#!/bin/sh\nexit 127\n'
  const tools = { 'nvidia-smi': missing, 'amd-smi': missing, 'rocm-smi': missing }
  if (gpus?.vendor === 'nvidia') return { ...tools, 'nvidia-smi': nvidiaSmi(gpus) }
  if (gpus?.vendor === 'amd') return { ...tools, 'amd-smi': amdSmi(gpus), 'rocm-smi': rocmSmi(gpus) }
  return tools
}

type Gpus = NonNullable<MachineHardware['gpus']>

const gpuHead = `${head}if [ -e "$state/gpu-error" ]; then cat "$state/gpu-error"; exit 9; fi
use=$(cat "$state/gpu-percent" 2>/dev/null || echo 0)
`

const nvidiaSmi = (gpus: Gpus) => `${gpuHead}case "$*" in
  *--query-gpu=name,memory.total,uuid,driver_version*) cat <<'END'
${each(gpus, (n) => `${gpus.name}, ${gpus.memoryMib}, GPU-0000000${n}, ${gpus.driverVersion}`).join('\n')}
END
    ;;
  *--query-gpu=utilization.gpu*) for gpu in ${each(gpus, String).join(' ')}; do echo "$use"; done ;;
  *) echo 'Invalid combination of input arguments.'; exit 2 ;;
esac
`

const amdSmi = (gpus: Gpus) => `${gpuHead}case "$*" in
  static*) cat <<'END'
${JSON.stringify({
  gpu_data: each(gpus, (gpu) => ({
    gpu,
    asic: { market_name: gpus.name, vendor_id: '0x1002' },
    bus: { bdf: `0000:${(5 + gpu).toString(16).padStart(2, '0')}:00.0` },
    vram: { type: 'HBM3', size: { value: gpus.memoryMib, unit: 'MB' } },
    driver: { name: 'amdgpu', version: gpus.driverVersion },
  })),
})}
END
    ;;
  metric*)
    [ "$use" = N/A ] && busy='"N/A"' || busy="{\\"value\\": $use, \\"unit\\": \\"%\\"}"
    printf '{"gpu_data": ['
    for gpu in ${each(gpus, String).join(' ')}; do
      [ "$gpu" = 0 ] || printf ', '
      printf '{"gpu": %s, "usage": {"gfx_activity": %s}}' "$gpu" "$busy"
    done
    echo ']}' ;;
  *) echo 'amd-smi: invalid arguments'; exit 2 ;;
esac
`

const rocmSmi = (gpus: Gpus) => `${gpuHead}cat <<'END'
${JSON.stringify({
  ...Object.fromEntries(
    each(gpus, (gpu) => [
      `card${gpu}`,
      { 'Card Series': gpus.name, 'VRAM Total Memory (B)': String(gpus.memoryMib * 2 ** 20) },
    ]),
  ),
  system: { 'Driver version': gpus.driverVersion },
})}
END
`

const each = <Value>(gpus: Gpus, of: (n: number) => Value): Value[] =>
  Array.from({ length: gpus.count }, (_, n) => of(n))

const blockDevices = ({ rootDiskBytes, localDisks }: MachineHardware) => [
  { name: 'disk0', size: rootDiskBytes, type: 'disk', mountpoints: ['/'] },
  ...localDisks.map((path, n) => ({
    name: `disk${n + 1}`,
    size: 15_359_999_475_712,
    type: 'disk',
    mountpoints: [path],
  })),
]
