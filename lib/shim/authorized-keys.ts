import { quote } from './shell.ts'

const begin = '# berth begin: this block is rewritten by Berth'
const end = '# berth end'

/**
 * The shell command, and its standard input, that make `keys` the managed block of the login user's authorized_keys.
 * Berth's own key always stands in the block too, so it can't be lost. Other lines stay as they are, and the file is
 * replaced in one step. Throws for a key that is not one line.
 */
export const authorizeCommand = (ownKey: string, keys: string[]): { command: string; input: string } => {
  const lines = [...new Set([ownKey, ...keys].map((key) => key.trim()))]
  if (lines.some((line) => line === '' || /[\r\n]/.test(line) || line === end || line === begin)) {
    throw new Error('An SSH key must be one line of an authorized_keys file')
  }
  return { command: replaceBlock, input: [begin, ...lines, end, ''].join('\n') }
}

// A block whose end is missing was cut by someone's editor: only its first line is ours for sure, the rest stays.
const withoutBlock = `
$0 == begin { for (i = 0; i < held; i++) print kept[i]; held = 0; inside = 1; next }
inside && $0 == end { inside = 0; held = 0; next }
inside { kept[held++] = $0; next }
{ print }
END { for (i = 0; i < held; i++) print kept[i] }`

const replaceBlock = `set -eu
umask 077
mkdir -p "$HOME/.ssh"
file="$HOME/.ssh/authorized_keys"
if [ -e "$file" ]; then file=$(readlink -f "$file"); else : >"$file"; fi
new=$(mktemp "$file.XXXXXX")
trap 'rm -f "$new"' EXIT
awk -v begin=${quote(begin)} -v end=${quote(end)} ${quote(withoutBlock)} "$file" >"$new"
cat >>"$new"
tail -n 1 "$new" | grep -qxF ${quote(end)}
mv -f "$new" "$file"
`
