const encoder = new TextEncoder()

/** Whether the last line on the terminal is a status line without a line end. */
let isStatusShown = false

/** Writes one line to standard output, unbuffered. */
export function print(line = ''): void {
  clearStatus()
  writeAll(Deno.stdout, line + '\n')
}

/** Writes one line to standard error, unbuffered. */
export function printError(line: string): void {
  clearStatus()
  writeAll(Deno.stderr, line + '\n')
}

/** Writes text to standard output; a pipe may accept only a part at once. */
export function printRaw(text: string): void {
  clearStatus()
  writeAll(Deno.stdout, text)
}

/**
 * Shows a status line on the terminal. It replaces the previous status line, and the next line of any
 * kind replaces it. Does nothing if standard error is not a terminal.
 */
export function printStatus(text: string): void {
  if (!Deno.stderr.isTerminal()) return
  // A wrapped status line could not be replaced.
  writeAll(Deno.stderr, `\r\x1b[K${text.slice(0, terminalWidth() - 1)}`)
  isStatusShown = true
}

function clearStatus(): void {
  if (!isStatusShown) return
  isStatusShown = false
  writeAll(Deno.stderr, '\r\x1b[K')
}

// A pseudo-terminal without a size has 0 columns.
function terminalWidth(): number {
  try {
    return Deno.consoleSize().columns || 80
  } catch {
    return 80
  }
}

function writeAll(to: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let rest = encoder.encode(text)
  while (rest.length > 0) rest = rest.subarray(to.writeSync(rest))
}
