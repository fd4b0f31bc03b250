/** A pseudo-terminal, by `script` of util-linux, which is in every Debian. */

/** What a command wrote to its terminal, and how it ended. */
export interface TerminalEnd {
  code: number
  /** All bytes, with each end of line as `\r\n`. */
  raw: string
}

/** Runs a command to its end on a terminal that is `columns` wide. */
export async function runOnTerminal(
  words: readonly string[],
  { columns, cwd, env }: { columns: number; cwd: string; env: Record<string, string> },
): Promise<TerminalEnd> {
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const { code, stdout } = await new Deno.Command('script', {
    args: ['-qec', `stty cols ${columns}; exec ${quoted}`, '/dev/null'],
    cwd,
    clearEnv: true,
    env: { ...env, SHELL: '/bin/sh', TERM: 'xterm' },
    stdin: 'null',
    stderr: 'inherit',
  }).output()
  return { code, raw: new TextDecoder().decode(stdout) }
}

const PARTS = new RegExp(String.raw`\r|\n|\x1b\[K|[^\r\n\x1b]+|\x1b`, 'g')

/**
 * The lines that a person sees at the end. Knows the carriage return and the erasing of the rest of a
 * line; throws at any other escape sequence.
 */
export function screen(raw: string): string[] {
  const lines: string[] = []
  let line = ''
  let column = 0
  for (const [part] of raw.matchAll(PARTS)) {
    if (part === '\r') column = 0
    else if (part === '\x1b[K') line = line.slice(0, column)
    else if (part === '\x1b') throw new Error(`An unknown escape sequence: ${JSON.stringify(raw)}`)
    else if (part === '\n') {
      lines.push(line)
      line = ''
    } else {
      line = line.slice(0, column) + part + line.slice(column + part.length)
      column += part.length
    }
  }
  return line === '' ? lines : [...lines, line]
}
