#!/usr/bin/env node
// JavaScript, so that Node's parser of TypeScript, which takes 100 ms to load, is met once: what it makes of the other
// files stays in the cache that is switched on here.
import module from 'node:module'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

if (process.features.typescript) {
  module.enableCompileCache(join(root, 'node_modules', '.cache', 'berth'))
  const { main } = await import('./main.ts')
  await main()
} else {
  // An older Node, without npx or npm in front of it, which would put the project's own first.
  const { spawn } = await import('node:child_process')
  const child = spawn(join(root, 'node_modules', '.bin', 'node'), process.argv.slice(1), { stdio: 'inherit' })
  child.on('error', () => {
    console.error(`berth needs Node 24, which comes with the project: run "npm ci" in ${root} once.`)
    process.exitCode = 1
  })
  child.on('exit', (code) => {
    process.exitCode = code ?? 1
  })
  // The one that does the work is interrupted as well, and says what that means.
  process.on('SIGINT', () => {})
}
