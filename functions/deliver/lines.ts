/** Writes lines some at a time. */
export type Lines = {
  write(line: string): void
  /** Writes what is left, and ends the timer. */
  flush(): void
}

/** A line waits no longer than this for others. */
const gatherMs = 50
const longestChars = 65_536

/**
 * Gathers lines for `sink`: at 10,000 attempts a second a write of its own for each line would take
 * a tenth of a core.
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

/** Writes to standard output; what reads it may take less at once than is given. */
export function writeToStdout(text: string): void {
  for (let rest = new TextEncoder().encode(text); rest.length > 0;) {
    rest = rest.subarray(Deno.stdout.writeSync(rest))
  }
}
