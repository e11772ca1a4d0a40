import net from 'node:net'

type ControlServer = {
  /** The agent that runs now, and where it listens in truth for the port that it would have on a real machine. */
  agent(): { pid: number; port: number; listensOn: number } | undefined
  port: number
  close(): Promise<void>
}

/**
 * Where a machine's stand-ins and its agent meet the sandbox. A line `systemctl …` is answered by the exit code and
 * the output; a line `agent PID PORT LISTENS_ON` opens a connection whose end means to either side that the other is
 * gone, so that no agent outlives a sandbox that was killed.
 */
export const openControlServer = (options: {
  systemctl: (args: string[]) => Promise<{ code: number; output: string }>
}): Promise<ControlServer> => {
  const sockets = new Set<net.Socket>()
  const agents = new Map<net.Socket, { pid: number; port: number; listensOn: number }>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      agents.delete(socket)
    })
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => {
      text += chunk
      if (!text.includes('\n')) return
      const [verb, ...args] = text.trim().split(/\s+/)
      text = ''
      if (verb === 'agent') {
        const [pid = 0, port = 0, listensOn = 0] = args.map(Number)
        agents.set(socket, { pid, port, listensOn })
      } else if (verb === 'systemctl') {
        options.systemctl(args).then(({ code, output }) => socket.end(`${code}\n${output}`))
      } else socket.destroy()
    })
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      if (address === null || typeof address === 'string') return reject(new Error('no port'))
      resolve({
        port: address.port,
        agent: () => [...agents.values()].at(-1),
        close: () => {
          for (const socket of sockets) socket.destroy()
          return new Promise((closed) => server.close(() => closed()))
        },
      })
    })
  })
}
