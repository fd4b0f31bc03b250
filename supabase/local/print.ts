const encoder = new TextEncoder()

/** Whether the last line on the terminal is a status line without its end. */
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
 * Show a status line on the terminal. It replaces the status line before it, and the next line of any
 * kind replaces it. Does nothing if standard error is not a terminal.
 */
export function printStatus(text: string): void {
  if (!Deno.stderr.isTerminal()) return
  // A status line that wraps could not be replaced.
  writeAll(Deno.stderr, `\r\x1b[K${text.slice(0, terminalWidth() - 1)}`)
  isStatusShown = true
}

function clearStatus(): void {
  if (!isStatusShown) return
  isStatusShown = false
  writeAll(Deno.stderr, '\r\x1b[K')
}

// A pseudo-terminal whose size was never set has 0 columns.
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
