export type ProgressLine = ReturnType<typeof progressLine>

/** A line that stays at the bottom while something is waited for: rewritten on a terminal, now and then elsewhere. */
export const progressLine = (
  out: NodeJS.WritableStream & { isTTY?: boolean; columns?: number },
  everyMs = 5000,
) => {
  let shown = false
  let lastAt = 0
  const clear = () => {
    if (out.isTTY && shown) out.write('\r\x1b[2K')
    shown = false
  }
  return {
    say: (line: string) => {
      clear()
      out.write(`${line}\n`)
    },
    wait: (line: string) => {
      if (out.isTTY) {
        clear()
        out.write(line.slice(0, (out.columns ?? 80) - 1))
        shown = true
      } else if (Date.now() - lastAt >= everyMs) {
        lastAt = Date.now()
        out.write(`${line}\n`)
      }
    },
    clear,
  }
}
