import { readdirSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, join, relative } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
import { openApiDocument } from '../lib/http/openapi-document.ts'
import { loadedAtStart, loadedFrom } from './chunks.ts'

type FunctionBundle = {
  name: string
  /** Absolute path of the module that exports `handler`. */
  file: string
  /** What is read before the handler can be called: its own module and every chunk that it imports statically. */
  bytes: number
  /** What the first call of OCI adds to that. */
  ociBytes: number
}

export type Bundles = { functions: FunctionBundle[]; metafile: Metafile }

/** What CommonJS packages use and a module does not have. */
const commonJs =
  "import{createRequire as makeRequire}from'node:module';" +
  'const require=makeRequire(import.meta.url),__dirname=import.meta.dirname,__filename=import.meta.filename;'

/** zod has its messages in some fifty languages, and builds all at its start. English is imported apart from these. */
const englishOnly: Plugin = {
  name: 'english-only',
  setup: ({ onLoad }) => {
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({ contents: 'export {}' }))
  },
}

/**
 * Node's own modules, taken without an import statement: that would read each of their exports once, and one of those
 * of node:http loads the whole of undici, 45 ms of every cold start.
 */
const lazyBuiltins: Plugin = {
  name: 'lazy-builtins',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^[a-z:_/0-9]+$/ }, ({ path, kind }) =>
      isBuiltin(path) && kind !== 'entry-point' ? { path, namespace: 'builtin' } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
    }))
  },
}

/** The document of the API is made here, once, and not where it is asked for. */
export const readyOpenApi: Plugin = {
  name: 'ready-openapi',
  setup: ({ onLoad }) => {
    onLoad({ filter: /lib\/http\/openapi-document\.ts$/ }, () => ({
      contents: `export const openApiDocument = ${JSON.stringify(openApiDocument)}`,
    }))
  },
}

const root = join(import.meta.dirname, '..')

/** Every file of functions/, as absolute paths. */
export const functionFiles = (): string[] =>
  readdirSync(join(root, 'functions')).map((file) => join(root, 'functions', file))

/**
 * Writes the functions as they are deployed into `outdir`, one module for each with the chunks that they share.
 * Rejects with esbuild's own messages.
 */
export const bundleFunctions = async (outdir: string, files = functionFiles()): Promise<Bundles> => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: files,
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minify: true,
    // Beside the code, and without the sources' text: they name the file and line of an error. Node reads them only with
    // --enable-source-maps, which costs some 40 ms of every start.
    sourcemap: 'linked',
    sourcesContent: false,
    treeShaking: true,
    // The modules of packages that have both: of CommonJS, nothing unused is left out, and nothing is loaded late.
    mainFields: ['module', 'main'],
    plugins: [englishOnly, lazyBuiltins, readyOpenApi],
    // What is imported dynamically stays in chunks of its own: Oracle's SDK.
    splitting: true,
    metafile: true,
    // ssh2's optional native parts: not there at run time, and it goes on without them. An empty one in their place
    // would count as there, and break the ciphers.
    external: ['cpu-features', '*.node'],
    banner: { js: commonJs },
    logLevel: 'error',
  })
  const functions = files.map((file) => {
    const name = basename(file, '.ts')
    const path = join(outdir, `${name}.mjs`)
    return { name, file: path, ...sizeOf(metafile, relative(root, path)) }
  })
  return { functions, metafile }
}

const sizeOf = (metafile: Metafile, output: string): { bytes: number; ociBytes: number } => {
  const atStart = loadedAtStart(metafile, output)
  const sdk = [...loadedFrom(metafile, output)].filter((each) =>
    /lib\/backends\/oci\/sdk-parts\.ts$/.test(metafile.outputs[each]?.entryPoint ?? ''),
  )
  const forSdk = sdk.flatMap((each) => [...loadedAtStart(metafile, each)])
  const added = new Set(forSdk.filter((each) => !atStart.has(each)))
  return { bytes: sum(metafile, atStart), ociBytes: sum(metafile, added) }
}

const sum = (metafile: Metafile, outputs: Set<string>): number =>
  [...outputs].reduce((total, output) => total + (metafile.outputs[output]?.bytes ?? 0), 0)
