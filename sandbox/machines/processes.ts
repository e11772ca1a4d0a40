import { readdirSync, readFileSync } from 'node:fs'

/**
 * Ends every process of a machine, those too that left their session, and waits until they are gone. They are known by
 * BERTH_ROOT in their environment, which no other machine shares. Without /proc there is nothing to find.
 */
export const endProcessesOf = async (root: string): Promise<void> => {
  for (let attempt = 0; attempt < 100; attempt++) {
    const pids = processesOf(root)
    if (pids.length === 0) return
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It ended by itself in between.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** The pids of a machine's processes. */
export const processesOf = (root: string): number[] =>
  listOf('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => textOf(`/proc/${pid}/environ`).split('\0').includes(`BERTH_ROOT=${root}`))
    .map(Number)

const listOf = (folder: string) => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Empty for a process that has ended or belongs to someone else. */
const textOf = (file: string) => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
