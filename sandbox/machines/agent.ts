// The stand-in for dstack-shim: a program of its own, run on a simulated machine as the real one is on a real one.
// argv[2] is its version. It takes tasks from the machine's state folder and answers the real one's HTTP API.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { join } from 'node:path'

type Task = { id: string; status: string }
type Answer = { status: number; body: unknown }

const version = process.argv[2] ?? ''
const advertisedPort = process.env.DSTACK_SHIM_HTTP_PORT
const root = process.env.BERTH_ROOT
if (!root || !advertisedPort) {
  console.error('dstack-shim: DSTACK_SHIM_HTTP_PORT is not set')
  process.exit(1)
}
const state = join(root, '..', 'state')
const inState = (name: string) => join(state, name)

/** All machines share this host's loopback, so the agent takes any port and tells the machine which. */
const server = http.createServer((request, response) => {
  const fault = existsSync(inState('agent-fault')) ? readFileSync(inState('agent-fault'), 'utf8') : ''
  if (fault === 'hang') return
  const { status, body } =
    fault === 'error' ? { status: 500, body: 'broken' } : answer(request.method ?? '', request.url ?? '')
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(body)}\n`)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') return
  const control = net.connect(Number(readFileSync(inState('control-port'), 'utf8')), '127.0.0.1', () =>
    control.write(`agent ${process.pid} ${advertisedPort} ${address.port}\n`),
  )
  control.on('error', () => {})
  control.on('close', powerOff)
})

const answer = (method: string, path: string): Answer => {
  const [, id, verb] = /^\/api\/tasks\/([^/]+)\/(terminate|remove)$/.exec(path) ?? []
  if (method === 'POST' && id && verb) return changeTask(id, verb)
  if (method === 'POST' && path === '/api/shutdown') {
    setImmediate(() => process.exit(0))
    return { status: 200, body: {} }
  }
  if (method !== 'GET') return { status: 405, body: 'method not allowed' }
  if (path === '/api/healthcheck') return { status: 200, body: { service: 'dstack-shim', version } }
  if (path === '/api/instance/info') return { status: 200, body: {} }
  if (path === '/api/instance/health') return { status: 200, body: { dcgm: readJson('gpu-health.json') } }
  if (path === '/api/tasks') return { status: 200, body: { tasks: readTasks() } }
  return { status: 404, body: 'not found' }
}

const changeTask = (id: string, verb: string): Answer => {
  const tasks = readTasks()
  const task = tasks.find((candidate) => candidate.id === id)
  if (!task) return { status: 404, body: 'not found' }
  if (verb === 'remove' && task.status !== 'terminated') return { status: 409, body: 'not terminated' }
  writeTasks(
    verb === 'remove'
      ? tasks.filter((other) => other !== task)
      : tasks.map((other) => (other === task ? { id, status: 'terminated' } : other)),
  )
  return { status: 200, body: { id, status: 'terminated' } }
}

const readTasks = (): Task[] => readJson('tasks.json') ?? []

const readJson = (name: string) =>
  existsSync(inState(name)) ? JSON.parse(readFileSync(inState(name), 'utf8')) : null

const writeTasks = (tasks: Task[]) => {
  writeFileSync(inState('tasks.json.new'), JSON.stringify(tasks))
  renameSync(inState('tasks.json.new'), inState('tasks.json'))
}

/** The machine has no power any more. A loop that supervises this process must end with it; systemd's role doesn't. */
function powerOff() {
  if (process.env.BERTH_SUPERVISOR !== 'systemd' && process.ppid > 1) process.kill(process.ppid, 'SIGTERM')
  process.exit(0)
}
