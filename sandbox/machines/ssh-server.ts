import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import ssh2, { type AuthContext, type Connection, type ParsedKey } from 'ssh2'
import type { MachineFolder } from './machine-folder.ts'
import type { MachineSpec } from './machine-host.ts'
import { serveSession } from './ssh-session.ts'

type Trouble = NonNullable<MachineSpec['sshTrouble']>

type SshServer = {
  port: number
  /** Logged-in connections, Berth's own among them. */
  openSessions(): number
  close(): Promise<void>
}

type Peer = { pid: number; socket: net.Socket; rejectKeys: boolean; loggedIn: boolean }

/**
 * The machine's sshd: where it is told to listen, else on 127.0.0.1 at the port it had before, or at a free one.
 * Rejects where the address that it is told is taken.
 */
export const openSshServer = async (options: {
  machine: MachineFolder
  username: string
  listen?: MachineSpec['listen']
  environment: Record<string, string>
  /** How the next connections fail; each takes the first and leaves the rest. */
  trouble: () => Trouble[number] | undefined
  /** Where the program listens that on a real machine would listen on this port of its loopback. */
  forwardTo: (port: number) => number | undefined
}): Promise<SshServer> => {
  const { machine } = options
  const peers = new Set<Peer>()
  let nextPid = 100_001

  const publish = () => {
    const lines = [...peers].map(
      ({ pid, socket: { localAddress, localPort, remoteAddress, remotePort } }) => {
        const processes = `users:(("sshd",pid=${process.pid},fd=4),("sshd",pid=${pid},fd=4))`
        return `0      0      ${localAddress}:${localPort}   ${remoteAddress}:${remotePort} ${processes}\n`
      },
    )
    machine.setState('sockets', lines.join(''))
  }
  const entitle = (pid: number, title: string) => {
    mkdirSync(join(machine.root, 'proc', String(pid)), { recursive: true })
    writeFileSync(join(machine.root, 'proc', String(pid), 'cmdline'), `sshd: ${title}\0`)
  }

  const ssh = new ssh2.Server({ hostKeys: [machine.hostKey()] }, (connection, { ip, port }) => {
    const peer = [...peers].find(({ socket }) => socket.remoteAddress === ip && socket.remotePort === port)
    connection.on('error', () => {})
    if (!peer) return connection.end()
    connection.on('authentication', (context) => {
      const isKnown = context.username === options.username && keyFits(context, machine.home)
      if (isKnown && !peer.rejectKeys) context.accept()
      else context.reject(['publickey'])
    })
    connection.on('ready', () => {
      peer.loggedIn = true
      entitle(peer.pid, `${options.username}@notty`)
    })
    serveSession(connection, {
      home: machine.home,
      environment: { ...options.environment, SSH_CONNECTION: connectionOf(peer.socket) },
    })
    serveForwards(connection, options.forwardTo)
  })

  const listener = net.createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {})
    const trouble = options.trouble()
    if (trouble === 'refuse') {
      socket.destroy()
      return
    }
    const peer: Peer = { pid: nextPid++, socket, rejectKeys: trouble === 'reject_key', loggedIn: false }
    peers.add(peer)
    entitle(peer.pid, '[accepted]')
    publish()
    socket.on('close', () => {
      peers.delete(peer)
      rmSync(join(machine.root, 'proc', String(peer.pid)), { recursive: true, force: true })
      if (listener.listening) publish()
    })
    if (trouble === 'hang' || isLockedOut(machine)) socket.resume()
    else ssh.injectSocket(socket)
  })

  const port = options.listen
    ? await listenAt(listener, options.listen)
    : await listenAgain(listener, machine.recall().port ?? 0)
  machine.remember({ port })
  machine.setState('ssh-port', String(port))
  machine.setState('sockets', '')
  return {
    port,
    openSessions: () => [...peers].filter((peer) => peer.loggedIn).length,
    close: () =>
      new Promise((resolve) => {
        listener.close(() => resolve())
        for (const { socket } of peers) socket.destroy()
      }),
  }
}

const listenAgain = (listener: net.Server, port: number): Promise<number> =>
  listenAt(listener, { host: '127.0.0.1', port }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE' && port !== 0) return listenAgain(listener, 0)
    throw error
  })

const listenAt = (listener: net.Server, { host, port }: { host: string; port: number }): Promise<number> =>
  new Promise((resolve, reject) => {
    listener.once('error', reject)
    listener.listen(port, host, () => {
      listener.removeListener('error', reject)
      const address = listener.address()
      if (address === null || typeof address === 'string') reject(new Error('no port'))
      else resolve(address.port)
    })
  })

const keyFits = (context: AuthContext, home: string): boolean => {
  if (context.method !== 'publickey') return false
  const { key, signature, blob, hashAlgo } = context
  const known = authorizedKeys(home).find((candidate) => candidate.getPublicSSH().equals(key.data))
  if (!known) return false
  // Without a signature the client only asks whether the key would do.
  return !signature || !blob || known.verify(blob, signature, hashAlgo) === true
}

const authorizedKeys = (home: string): ParsedKey[] => {
  const file = join(home, '.ssh/authorized_keys')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  return lines.flatMap((line) => {
    const key = ssh2.utils.parseKey(line)
    return key instanceof Error ? [] : [key]
  })
}

/** ufw drops what comes in, unless a rule lets SSH in: on 22, or on the port that this sshd has in truth. */
const isLockedOut = ({ at, recall }: MachineFolder): boolean => {
  const read = (name: string) =>
    existsSync(at('state', name)) ? readFileSync(at('state', name), 'utf8') : ''
  if (!existsSync(at('state', 'ufw-enabled')) || read('ufw-default-incoming').trim() === 'allow') return false
  return !read('ufw-rules')
    .split('\n')
    .some((rule) => new RegExp(`^allow (22|${recall().port})(/tcp)?$`).test(rule))
}

const connectionOf = ({ remoteAddress, remotePort, localAddress, localPort }: net.Socket) =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`

const serveForwards = (connection: Connection, forwardTo: (port: number) => number | undefined) => {
  connection.on('tcpip', (accept, reject, { destIP, destPort }) => {
    const port = ['127.0.0.1', 'localhost'].includes(destIP) ? forwardTo(destPort) : undefined
    if (port === undefined) return reject()
    const inner = net.connect(port, '127.0.0.1')
    inner.once('error', () => reject())
    inner.once('connect', () => {
      inner.removeAllListeners('error')
      const outer = accept()
      inner.on('error', () => outer.destroy())
      outer.on('error', () => inner.destroy())
      outer.on('close', () => inner.destroy())
      inner.pipe(outer).pipe(inner)
    })
  })
}
