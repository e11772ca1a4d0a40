/** A text as one word of a shell command. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * What commands that look at a machine begin with. `section NAME COMMAND…` runs a command and labels what it says;
 * `privileged` runs one as root, bounded, because some GPU tools show nothing to others.
 */
export const sectionPrelude = `
root="\${BERTH_ROOT:-}"
section() {
  name=$1
  shift
  printf '\\n@@ begin %s\\n' "$name"
  "$@" 2>&1
  status=$?
  printf '\\n@@ end %s %s\\n' "$name" "$status"
  return "$status"
}
privileged() {
  if [ "$(id -u)" = 0 ]; then timeout -k 5 30 "$@"; else sudo -n timeout -k 5 30 "$@"; fi
}
find_tool() {
  command -v "$1" || { [ -x "$root/opt/rocm/bin/$1" ] && echo "$root/opt/rocm/bin/$1"; }
}
`

export type Section = { status: number; text: string }

/** The labelled answers by name. One without its end is missing: the command was cut off. */
export const parseSections = (output: string): Map<string, Section> => {
  const found = new Map<string, Section>()
  for (const match of output.matchAll(/^@@ begin (\S+)\n([\s\S]*?)\n?^@@ end \1 (\d+)$/gm)) {
    const [, name, text, status] = match
    if (name !== undefined && text !== undefined)
      found.set(name, { status: Number(status), text: text.trim() })
  }
  return found
}

/** What a section says, where its command went well. */
export const wellSaid = (section: Section | undefined): string | undefined =>
  section?.status === 0 ? section.text : undefined

/** The JSON in what a tool says; some print warnings before or after it. Undefined where there is none. */
export const jsonIn = (text: string): unknown => {
  for (const match of text.matchAll(/^\s*([[{])/gm)) {
    const end = text.lastIndexOf(match[1] === '[' ? ']' : '}')
    try {
      return JSON.parse(text.slice(match.index, end + 1))
    } catch {
      // A warning can begin with a bracket too: the next line may be the one.
    }
  }
  return undefined
}
