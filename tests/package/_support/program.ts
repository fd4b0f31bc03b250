import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { patienceMs } from '../../_support/patience.ts'

/** A program of the page in a process of its own. */
export interface Program extends AsyncDisposable {
  /** The lines that it has printed. */
  readonly lines: string[]
  /** Resolves with the first match in a line; rejects if the program ends or takes too long. */
  find(pattern: RegExp): Promise<RegExpExecArray>
  /** The same for what `read` finds in a line; null: nothing. */
  first<T>(read: (line: string) => T | null): Promise<T>
  /** Asks the program to end, by SIGTERM. */
  stop(): void
  /** Resolves with the exit code, when all that it has printed is read. */
  readonly ended: Promise<number>
}

/** The file of a program in programs/. It ends with .txt, because it imports what only its user has. */
export function programPath(name: string): string {
  return join(import.meta.dirname ?? '', 'programs', `${name}.txt`)
}

/** Starts a program in a folder. */
export function startProgram(
  [path = '', ...args]: readonly string[],
  cwd: string,
  env: Record<string, string>,
  { stdin = 'null' }: { stdin?: 'null' | 'piped' } = {},
): Program {
  const child = new Deno.Command(path, {
    args,
    cwd,
    env: { NO_COLOR: '1', ...env },
    stdin,
    stdout: 'piped',
    stderr: 'piped',
  }).spawn()
  const lines: string[] = []
  let isOver = false
  async function read(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    for await (const line of createInterface({ input: Readable.from(stream) })) lines.push(line)
  }
  const ended = Promise.all([child.status, read(child.stdout), read(child.stderr)])
    .then(([{ code }]) => {
      isOver = true
      return code
    })

  async function first<T>(read: (line: string) => T | null): Promise<T> {
    let found: T | null = null
    await waitUntil(() => {
      for (const line of lines) found ??= read(line)
      return found !== null || isOver
    }, { timeoutMs: patienceMs })
    if (found === null) throw new Error(`${path} did not print it:\n${lines.join('\n')}`)
    return found
  }

  return {
    lines,
    find: (pattern) => first((line) => pattern.exec(line)),
    first,
    stop: () => child.kill('SIGTERM'),
    ended,
    async [Symbol.asyncDispose](): Promise<void> {
      // A program with an input ends with it. Killing it could leave what it has started.
      if (stdin === 'piped') await child.stdin.close().catch(() => {})
      else if (!isOver) child.kill('SIGKILL')
      await ended
    },
  }
}
