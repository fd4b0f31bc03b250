const encoder = new TextEncoder()

/** Whether a status line stands on the terminal, unfinished. */
let isStatusShown = false

/** Write one line to standard output, at once. */
export function print(line = ''): void {
  clearStatus()
  writeAll(Deno.stdout, line + '\n')
}

/** Write one line to standard error, at once. */
export function printError(line: string): void {
  clearStatus()
  writeAll(Deno.stderr, line + '\n')
}

/** Write text as it is to standard output; a pipe may take it in several pieces. */
export function printRaw(text: string): void {
  clearStatus()
  writeAll(Deno.stdout, text)
}

/**
 * Show on the terminal how far something is, in place of what this showed before; the next line of
 * any kind replaces it. Does nothing where standard error is no terminal.
 */
export function printStatus(text: string): void {
  if (!Deno.stderr.isTerminal()) return
  // A status that wraps could not be taken back.
  writeAll(Deno.stderr, `\r\x1b[K${text.slice(0, terminalWidth() - 1)}`)
  isStatusShown = true
}

function clearStatus(): void {
  if (!isStatusShown) return
  isStatusShown = false
  writeAll(Deno.stderr, '\r\x1b[K')
}

function terminalWidth(): number {
  try {
    return Deno.consoleSize().columns
  } catch {
    return 80
  }
}

function writeAll(to: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let rest = encoder.encode(text)
  while (rest.length > 0) rest = rest.subarray(to.writeSync(rest))
}
