/** The output line that tells the supervisor the port of a function's process. */

const MARK = '\u001eouthook-port '

/** Writes the line; the system chooses the port, so two stacks never conflict. */
export function announcePort(port: number): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${MARK}${port}\n`))
}

/** Parses the line; null for any other line, which is the function's own output. */
export function readPort(line: string): number | null {
  return line.startsWith(MARK) ? Number(line.slice(MARK.length)) : null
}
