/** The one line by which a function's process tells its supervisor where it listens. */

const MARK = '\u001eouthook-port '

/** Writes the line; the port is chosen by the system, so two stacks never want the same one. */
export function announcePort(port: number): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${MARK}${port}\n`))
}

/** Reads the line; null when it is anything else, which is then the function's own output. */
export function readPort(line: string): number | null {
  return line.startsWith(MARK) ? Number(line.slice(MARK.length)) : null
}
