/** The settings of one profile of an OCI config file, with what it takes over from DEFAULT. */
export type Profile = {
  get(key: string): string | undefined
  /** Whether the profile itself sets it. */
  sets(key: string): boolean
}

/**
 * Reads a profile of the config file of OCI's own tools: `[NAME]`, then `key=value` lines. Undefined where there is no
 * such profile. Oracle's own reader prints to the console, so it is not used.
 */
export const readProfile = (text: string, name: string): Profile | undefined => {
  const profiles = new Map<string, Map<string, string>>()
  let current: Map<string, string> | undefined
  for (const line of text.split(/\r?\n/)) {
    const [, section] = /^\s*\[([^\]]+)\]\s*$/.exec(line) ?? []
    if (section !== undefined) {
      current = profiles.get(section.trim()) ?? new Map()
      profiles.set(section.trim(), current)
      continue
    }
    const [, key, value] = /^\s*([^#;=\s][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (key !== undefined && value) current?.set(key, value)
  }
  const own = profiles.get(name)
  return (
    own && {
      get: (key) => own.get(key) ?? profiles.get('DEFAULT')?.get(key),
      sets: (key) => own.has(key),
    }
  )
}
