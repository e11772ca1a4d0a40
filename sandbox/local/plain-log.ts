import type { Log } from '../../lib/model/log.ts'

/** One plain line for each message: `21:08:31 i-0a1b2c3d4e5f busy: ready for local`. Warnings and errors go to `err`. */
export const plainLog = (out: NodeJS.WritableStream, err: NodeJS.WritableStream): Log => {
  const line = (level: string, message: string, fields: Record<string, unknown> = {}) => {
    const { instanceId, status, phase, stack: _, ...more } = fields
    const who = [instanceId, phase ?? status].filter(Boolean).join(' ')
    const rest = Object.entries(more).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${String(value)}`],
    )
    const told = rest.length > 0 ? `${message} (${rest.join(', ')})` : message
    return `${new Date().toISOString().slice(11, 19)} ${level}${who ? `${who}: ` : ''}${told}\n`
  }
  return {
    info: (message, fields) => void out.write(line('', message, fields)),
    warn: (message, fields) => void err.write(line('warning: ', message, fields)),
    error: (message, fields) => void err.write(line('error: ', message, fields)),
    alarm: (name, message, fields) => void err.write(line('ALARM: ', `${name}: ${message}`, fields)),
    // Metrics are for a dashboard; the lines of state changes say as much.
    metric: () => {},
  }
}
