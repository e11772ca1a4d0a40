import type { Activity } from '../model/activity.ts'
import { parseAmdUse, parseNvidiaUse } from './gpu-tools.ts'
import { parseSections, sectionPrelude, wellSaid } from './shell.ts'
import { ShimUnreachable } from './shim.ts'

/*
 * Whose an SSH session is can't be told by its address: a renter may come from behind the same NAT as Berth, and
 * several Berth connections may be open at once. So each Berth connection leaves a mark on the machine, an empty file
 * whose name is its peer's address and port and the pid of the sshd that serves it. A connection with a mark is
 * Berth's. The pid keeps a mark from standing for a later connection that happens to have the same port.
 * /dev/shm: writable without sudo, on a full disk too, and empty after a boot, as the connections are.
 */
const marks = `"\${BERTH_ROOT:-}/dev/shm/berth-sessions"`

/** Run once at the start of each connection. */
export const registerCommand = `set -- $SSH_CONNECTION
mkdir -p ${marks} && : >${marks}/"$1_$2_$PPID"`

/**
 * One shell command that asks who is at work; `parseActivity` reads its output. Marks of ended connections go: those
 * that were there before the connections were listed, since a connection that comes meanwhile has its mark rightly.
 * Marks are listed last: what has just logged in may be Berth's, and gets the time of all the rest to write its mark.
 */
export const activityCommand = `${sectionPrelude}
set -- $SSH_CONNECTION
self="$1 $2"
port=$4
before=$(ls ${marks})
sockets=$(privileged ss -Htnp state established "( sport = :$port )" 2>/dev/null) ||
  sockets=$(ss -Htn state established "( sport = :$port )")
for mark in $before; do
  client=\${mark%_*}
  printf '%s\\n' "$sockets" | grep -Eq ":\${client##*_}( |$)" || rm -f ${marks}/"$mark"
done
section self echo "$self"
section sockets printf '%s\\n' "$sockets"
titles() {
  for pid in $(printf '%s' "$sockets" | grep -o 'pid=[0-9]*' | cut -d= -f2 | sort -u); do
    [ ! -r "$root/proc/$pid/cmdline" ] || echo "$pid $(tr '\\0' ' ' <"$root/proc/$pid/cmdline")"
  done
}
section titles titles
if tool=$(find_tool nvidia-smi); then
  section nvidia privileged "$tool" --query-gpu=utilization.gpu --format=csv,noheader,nounits
fi
if tool=$(find_tool amd-smi); then
  section amd privileged "$tool" metric --usage --json
fi
section marks ls ${marks}
`

/**
 * Sessions that are not Berth's and the busiest GPU, of what `activityCommand` said. Throws ShimUnreachable where not
 * even the connection that asks is among the sessions: then they can't be seen, which must not pass for none.
 */
export const parseActivity = (output: string): Pick<Activity, 'sshSessions' | 'gpuPercent'> => {
  const sections = parseSections(output)
  const uses = [
    parseNvidiaUse(wellSaid(sections.get('nvidia')) ?? ''),
    parseAmdUse(wellSaid(sections.get('amd')) ?? ''),
  ].filter((use) => use !== undefined)
  const sockets = (wellSaid(sections.get('sockets')) ?? '')
    .split('\n')
    .flatMap((line) => parseSocket(line) ?? [])
  const [selfAddress = '', selfPort = ''] = (wellSaid(sections.get('self')) ?? '').split(' ')
  const self = `${plainAddress(selfAddress)} ${selfPort}`
  if (!sockets.some(({ peer }) => peer.endsWith(` ${selfPort}`)))
    throw new ShimUnreachable('unreachable', 'the SSH sessions of the machine cannot be read')
  const marked = (wellSaid(sections.get('marks')) ?? '').split('\n').map(parseMark)
  const atTheDoor = pidsBeforeLogin(wellSaid(sections.get('titles')) ?? '')
  const foreign = sockets.filter(
    ({ peer, pids }) =>
      peer !== self &&
      !pids.some((pid) => atTheDoor.has(pid)) &&
      !marked.some((mark) => mark?.peer === peer && (pids.length === 0 || pids.includes(mark.pid))),
  )
  return { sshSessions: foreign.length, gpuPercent: uses.length > 0 ? Math.max(...uses) : undefined }
}

/** A line of `ss -Htnp state established`: queues, local, peer, processes (only root is shown these). */
const parseSocket = (line: string) => {
  const peer = line.trim().split(/\s+/)[3]
  const cut = peer?.lastIndexOf(':') ?? -1
  if (peer === undefined || cut < 0) return undefined
  const pids = [...line.matchAll(/pid=(\d+)/g)].flatMap((match) => match[1] ?? [])
  return { peer: `${plainAddress(peer.slice(0, cut))} ${peer.slice(cut + 1)}`, pids }
}

const parseMark = (name: string) => {
  const [, address, port, pid] = /^(.+)_(\d+)_(\d+)$/.exec(name) ?? []
  return address === undefined || pid === undefined
    ? undefined
    : { peer: `${plainAddress(address)} ${port}`, pid }
}

/** ss writes an IPv4 peer of a dual-stack socket as `[::ffff:192.0.2.1]`, sshd as `192.0.2.1`. Zones go too. */
const plainAddress = (address: string) =>
  address
    .replace(/^\[|\]$/g, '')
    .replace(/^::ffff:(?=\d+\.)/i, '')
    .replace(/%.*$/, '')

/**
 * Connections that have not logged in are strangers who try passwords, which every public address sees all day; they
 * must not keep a machine rented. sshd says so in the title of the process that serves them.
 */
const pidsBeforeLogin = (titles: string) =>
  new Set(
    titles
      .split('\n')
      .filter((line) => /\[(net|preauth|accepted)\]/.test(line))
      .flatMap((line) => line.split(' ')[0] ?? []),
  )
