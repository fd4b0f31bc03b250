export type Lines = {
  write(line: string): void
  /** Writes the remaining lines and stops the timer. */
  flush(): void
}

/** The longest time that a line is buffered. */
const gatherMs = 50
const longestChars = 65_536

/**
 * Buffers lines for `sink`: at 10,000 attempts a second one write for each line would take a tenth of
 * a core.
 */
export function gatherLines(sink: (text: string) => void): Lines {
  let lines: string[] = []
  let chars = 0
  let timer: ReturnType<typeof setTimeout> | null = null

  function write(line: string): void {
    lines.push(line)
    chars += line.length
    if (chars >= longestChars) flush()
    else timer ??= setTimeout(flush, gatherMs)
  }

  function flush(): void {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (lines.length === 0) return
    const text = `${lines.join('\n')}\n`
    lines = []
    chars = 0
    sink(text)
  }

  return { write, flush }
}
