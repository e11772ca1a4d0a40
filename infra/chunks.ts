import type { Metafile } from 'esbuild'

/** The outputs that importing `output` reads at once, itself among them. */
export const loadedAtStart = (metafile: Metafile, output: string): Set<string> =>
  reach(metafile, output, ['import-statement'])

/** The outputs that `output` may ever read: also those that it imports dynamically. */
export const loadedFrom = (metafile: Metafile, output: string): Set<string> =>
  reach(metafile, output, ['import-statement', 'dynamic-import'])

/** The source files of which something is in the outputs. */
export const sourcesOf = (metafile: Metafile, outputs: Set<string>): string[] =>
  [...outputs].flatMap((output) => Object.keys(metafile.outputs[output]?.inputs ?? {}))

const reach = (
  metafile: Metafile,
  output: string,
  kinds: string[],
  seen = new Set<string>(),
): Set<string> => {
  seen.add(output)
  for (const { path, kind, external } of metafile.outputs[output]?.imports ?? []) {
    if (!external && kinds.includes(kind) && !seen.has(path)) reach(metafile, path, kinds, seen)
  }
  return seen
}
