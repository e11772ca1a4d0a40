import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Connection, ServerChannel } from 'ssh2'

/** Commands and shells of one connection, run by a real shell in the machine's folder with its environment alone. */
export const serveSession = (
  connection: Connection,
  options: { home: string; environment: Record<string, string> },
) => {
  connection.on('session', (acceptSession) => {
    const session = acceptSession()
    let terminal = false
    session.on('pty', (accept) => {
      terminal = true
      accept?.()
    })
    session.on('env', (accept) => accept?.())
    session.on('window-change', (accept) => accept?.())
    session.on('exec', (accept, _reject, { command }) => run(accept(), ['/bin/bash', '-c', command], options))
    session.on('shell', (accept) =>
      run(accept(), terminal && existsSync(script) ? inTerminal : ['/bin/bash'], options),
    )
  })
}

/** util-linux's `script` gives a shell a terminal of its own, which Node can't. */
const script = '/usr/bin/script'
const inTerminal = [script, '-qfc', '/bin/bash --norc -i', '/dev/null']

const run = (
  channel: ServerChannel,
  [program = '', ...args]: string[],
  { home, environment }: { home: string; environment: Record<string, string> },
) => {
  const child = spawn(program, args, { cwd: home, env: environment, stdio: 'pipe' })
  for (const stream of [channel, child.stdin, child.stdout, child.stderr]) stream.on('error', () => {})
  channel.pipe(child.stdin)
  child.stdout.pipe(channel, { end: false })
  child.stderr.pipe(channel.stderr, { end: false })
  // As with a real sshd, a process left behind that holds the output open keeps the session open.
  child.on('close', (code) => {
    channel.exit(code ?? 255)
    channel.end()
  })
  child.on('error', () => channel.end())
  channel.on('close', () => {
    child.stdout.destroy()
    child.stderr.destroy()
    child.kill('SIGHUP')
  })
}
