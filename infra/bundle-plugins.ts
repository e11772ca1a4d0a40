import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import type { Plugin } from 'esbuild'
import { openApiDocument } from '../lib/http/openapi-document.ts'

/** The file beside a function that has Oracle's SDK; it is the same for all, so it is made once. */
export const sdkFile = 'oci-sdk.mjs'

/** zod has its messages in some fifty languages, and builds all at its start. English is imported apart from these. */
export const englishOnly: Plugin = {
  name: 'english-only',
  setup: ({ onLoad }) => {
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({ contents: 'export {}' }))
  },
}

/**
 * zod keeps what makes JSON schemas at hand, a sixth of its size; functions only parse. The descriptions of strings and
 * numbers (`minLength` and such) come from there too, and are empty.
 */
export const noJsonSchemas: Plugin = {
  name: 'no-json-schemas',
  setup: ({ onLoad }) => {
    onLoad({ filter: /zod\/v4\/core\/json-schema-generator\.js$/ }, () => ({
      contents: 'export const JSONSchemaGenerator = undefined',
    }))
    onLoad({ filter: /zod\/v4\/core\/json-schema-processors\.js$/ }, () => ({
      contents: 'export const aggregateChecks = () => ({}), toJSONSchema = undefined',
    }))
    onLoad({ filter: /zod\/v4\/core\/to-json-schema\.js$/ }, () => ({
      contents:
        'export const createToJSONSchemaMethod = undefined, createStandardJSONSchemaMethod = () => undefined',
    }))
  },
}

/** Errors of AWS that code tells apart by their class; all others come as the base class, with their names. */
export const knownAwsErrors = ['ConditionalCheckFailedException', 'TransactionCanceledException']

/**
 * Each client of the AWS SDK keeps alive what its service may answer to any call: every error, and every shape that has
 * a key named by a constant. Of SSM that is nine tenths. Here errors are few, keys are written out, and of the
 * description of the package what is used is left.
 */
export const leanAwsClients: Plugin = {
  name: 'lean-aws-clients',
  setup: ({ onLoad }) => {
    onLoad({ filter: /@aws-sdk\/client-[\w-]+\/dist-es\/schemas\/schemas_0\.js$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8')
      const constants = new Map(
        [...source.matchAll(/^const (\w+) = ("[^"]*");$/gm)].map(([, name, text]) => [name, text]),
      )
      const contents = source
        .replaceAll(/\[(_\w+)\]:/g, (key, name: string) =>
          constants.has(name) ? `${constants.get(name)}:` : key,
        )
        .replaceAll(/^n0_registry\.registerError\((\w+)\$, \w+\);$/gm, (line, name: string) =>
          knownAwsErrors.includes(name) ? line : '',
        )
      return { contents }
    })
    onLoad({ filter: /@aws-sdk\/client-[\w-]+\/package\.json$/ }, ({ path }) => {
      const { name, version } = JSON.parse(readFileSync(path, 'utf8'))
      return { contents: JSON.stringify({ name, version }), loader: 'json' }
    })
  },
}

/** DynamoDB's client keeps endpoints for a way of finding them that nobody uses here, in a cache of seven kilobytes. */
export const noEndpointCache: Plugin = {
  name: 'no-endpoint-cache',
  setup: ({ onLoad }) => {
    onLoad({ filter: /mnemonist\/lru-cache\.js$/ }, () => ({
      contents:
        'export default class extends Map { constructor() { super() } peek(key) { return this.get(key) } }',
    }))
  },
}

/**
 * Node's own modules, taken without an import statement: that would read each of their exports once, and one of those
 * of node:http loads the whole of undici, 45 ms of every cold start.
 */
export const lazyBuiltins: Plugin = {
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

/** Leaves the SDK in its own file, which is imported when OCI is first called. */
export const sdkApart: Plugin = {
  name: 'sdk-apart',
  setup: ({ onResolve }) => {
    onResolve({ filter: /\/sdk-parts\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: `./${sdkFile}`, external: true } : undefined,
    )
  },
}

/** What a route answers, and examples of it, are for the document and for types; a function that answers parses none. */
export const noAnswers: Plugin = {
  name: 'no-answers',
  setup: ({ onLoad }) => {
    onLoad({ filter: /lib\/http\/([\w-]+-)?(answers|examples)\.ts$/ }, ({ path }) => {
      const names = [...readFileSync(path, 'utf8').matchAll(/^export const (\w+)/gm)].map(([, name]) => name)
      return { contents: names.map((name) => `export const ${name} = {}\n`).join('') }
    })
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
