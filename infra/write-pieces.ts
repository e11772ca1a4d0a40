import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pieces } from './pieces.ts'

/** Where packages and pieces are made; git does not have it. */
export const packageFolder = join(import.meta.dirname, '..', '.berth-package')

/** Writes what serverless.yml includes: without it osls can read nothing, not even to remove. */
export const writePieces = (): void => {
  mkdirSync(packageFolder, { recursive: true })
  writeFileSync(join(packageFolder, 'pieces.json'), JSON.stringify(pieces(), null, 2))
}
