import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { bundleFunctions } from './bundle.ts'
import { loadedFrom } from './chunks.ts'
import { packageFolder as folder, writePieces } from './write-pieces.ts'
import { type Packed, pack, zip } from './zip.ts'

const root = join(import.meta.dirname, '..')

/**
 * Makes what `osls package` and `osls deploy` take: a package for each function, with the chunks that it may load and
 * their source maps, and the pieces that serverless.yml includes. Prints what each function weighs.
 */
const makePackages = async () => {
  rmSync(folder, { recursive: true, force: true })
  writePieces()
  const { functions, metafile } = await bundleFunctions(join(folder, 'bundles'))
  const kb = (bytes: number) => Math.round(bytes / 1000)
  const packed = new Map<string, Packed>()
  /** Functions share Oracle's SDK, and chunks, which are named by what is in them. */
  const packedOnce = (output: string): Packed => {
    const name = basename(output)
    const known = packed.get(name) ?? pack(name, readFileSync(join(root, output)))
    packed.set(name, known)
    return known
  }
  const sizes = functions.map(({ name, file, bytes }) => {
    const outputs = [...loadedFrom(metafile, relative(root, file))]
    const archive = zip(outputs.flatMap((output) => [output, `${output}.map`]).map(packedOnce))
    writeFileSync(join(folder, `${name}.zip`), archive)
    const all = outputs.reduce((sum, output) => sum + (metafile.outputs[output]?.bytes ?? 0), 0)
    return {
      function: name,
      'at start (kB)': kb(bytes),
      'in all (kB)': kb(all),
      'zip (kB)': kb(archive.length),
    }
  })
  console.table(sizes)
}

await makePackages()
