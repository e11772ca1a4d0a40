import { copyFileSync, readdirSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { type BuildOptions, build, type Metafile } from 'esbuild'
import {
  englishOnly,
  lazyBuiltins,
  leanAwsClients,
  noAnswers,
  noEndpointCache,
  noJsonSchemas,
  readyOpenApi,
  sdkApart,
  sdkFile,
} from './bundle-plugins.ts'
import { loadedAtStart, loadedFrom } from './chunks.ts'

type FunctionBundle = {
  name: string
  /** Absolute path of the module that exports `handler`. */
  file: string
  /**
   * What is read before the first answer where OCI is not used: its own module, every chunk that it imports statically,
   * the other clouds' backends, and the clients of SSM and SQS.
   */
  bytes: number
  /** What the first call of OCI adds to that. */
  ociBytes: number
}

export type Bundles = { functions: FunctionBundle[]; metafile: Metafile }

/** What CommonJS packages use and a module does not have. */
const commonJs =
  "import{createRequire as makeRequire}from'node:module';" +
  'const require=makeRequire(import.meta.url),__dirname=import.meta.dirname,__filename=import.meta.filename;'

/**
 * Ways to credentials that Lambda never takes: it hands them over in the environment. Each would keep alive parts of the
 * AWS SDK that all its clients share (protocols of STS and SSO), in every function's start.
 */
const otherCredentials = ['ini', 'process', 'sso', 'login', 'web-identity', 'http']
  .map((way) => `@aws-sdk/credential-provider-${way}`)
  .concat('@smithy/credential-provider-imds')

const root = join(import.meta.dirname, '..')
const sdkParts = join(root, 'lib/backends/oci/sdk-parts.ts')

const options: BuildOptions & { metafile: true } = {
  absWorkingDir: root,
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
  // What is imported dynamically stays in chunks of its own.
  splitting: true,
  metafile: true,
  // ssh2's optional native parts are not there at run time, and it goes on without them: an empty one in their place
  // would count as there, and break the ciphers.
  external: ['cpu-features', '*.node', ...otherCredentials],
  banner: { js: commonJs },
  logLevel: 'error',
}

/** Every file of functions/, as absolute paths. */
export const functionFiles = (): string[] =>
  readdirSync(join(root, 'functions')).map((file) => join(root, 'functions', file))

/**
 * Writes the functions as they are deployed into `outdir`, each into a folder of its own: what one does not use is left
 * out of its packages, whatever others need of them. Rejects with esbuild's own messages.
 */
export const bundleFunctions = async (outdir: string, files = functionFiles()): Promise<Bundles> => {
  const sdk = await build({
    ...options,
    entryPoints: { [basename(sdkFile, '.mjs')]: sdkParts },
    outdir,
    plugins: [lazyBuiltins],
  })
  const builds = await Promise.all(
    files.map((file) =>
      build({
        ...options,
        entryPoints: [file],
        outdir: join(outdir, basename(file, '.ts')),
        plugins: [
          englishOnly,
          noJsonSchemas,
          leanAwsClients,
          noEndpointCache,
          lazyBuiltins,
          readyOpenApi,
          noAnswers,
          sdkApart,
        ],
      }),
    ),
  )
  const own = builds.map(({ metafile }) => metafile)
  const sdkOutput = sdk.metafile.outputs[relative(root, join(outdir, sdkFile))]
  const outputs: Metafile['outputs'] = Object.assign({}, ...own.map((each) => each.outputs))
  for (const [path, output] of Object.entries(outputs)) {
    for (const imported of output.imports) {
      if (!imported.path.endsWith(`/${sdkFile}`) || !sdkOutput) continue
      imported.path = join(dirname(path), sdkFile)
      imported.external = false
      outputs[imported.path] = sdkOutput
      for (const end of ['', '.map']) {
        copyFileSync(join(outdir, sdkFile + end), join(root, imported.path + end))
      }
    }
  }
  const metafile = { inputs: Object.assign({}, ...own.map((each) => each.inputs)), outputs }
  const functions = files.map((each) => {
    const name = basename(each, '.ts')
    const file = join(outdir, name, `${name}.mjs`)
    return { name, file, ...sizeOf(metafile, relative(root, file)) }
  })
  return { functions, metafile }
}

/** Chunks that are imported dynamically, and yet before any first answer. */
const always = /lib\/(lambda-parameters|queues\/open-sqs|backends\/(?!oci\/)[^/]+\/[^/]+)\.ts$/
const ofOci = /lib\/backends\/oci\/|sdk-parts/

const sizeOf = (metafile: Metafile, output: string): { bytes: number; ociBytes: number } => {
  const within = (pattern: RegExp) =>
    [...loadedFrom(metafile, output)].filter((each) => pattern.test(metafile.outputs[each]?.entryPoint ?? ''))
  const read = (from: string[]) => new Set(from.flatMap((each) => [...loadedAtStart(metafile, each)]))
  const atStart = read([output, ...within(always)])
  const forOci = read(within(ofOci))
  const added = new Set([...forOci].filter((each) => !atStart.has(each)))
  return { bytes: sum(metafile, atStart), ociBytes: sum(metafile, added) }
}

const sum = (metafile: Metafile, outputs: Set<string>): number =>
  [...outputs].reduce((total, output) => total + (metafile.outputs[output]?.bytes ?? 0), 0)
