import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

/** A program of a consumer in a process of its own. */
export interface ConsumerProcess {
  kill(signal: Deno.Signal): void
  /** The lines that it has written. */
  readonly lines: string[]
  /** Resolves with the exit code, or with the signal that ended it. */
  readonly ended: Promise<number | string>
}

/** Starts `deno task consume` or `dlq:replay` with these arguments and variables. */
export function startConsumer(
  file: 'main.ts' | 'replay.ts',
  args: string[],
  env: Record<string, string>,
): ConsumerProcess {
  return startSource(`consumer/${file}`, args, env)
}

/** Starts a file of the project with these arguments and variables. */
export function startSource(
  file: string,
  args: string[],
  env: Record<string, string>,
): ConsumerProcess {
  const child = new Deno.Command(Deno.execPath(), {
    args: ['run', '-A', '--no-check', '--cached-only', file, ...args],
    cwd: projectRoot,
    env: { ...env, NO_COLOR: '1' },
    stdin: 'null',
    stdout: 'piped',
    stderr: 'piped',
  }).spawn()
  const lines: string[] = []
  const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> => {
    for await (const line of createInterface({ input: Readable.from(stream) })) lines.push(line)
  }
  const ended = Promise.all([child.status, read(child.stdout), read(child.stderr)])
    .then(([{ code, signal }]) => signal ?? code)
  return { kill: (signal) => child.kill(signal), lines, ended }
}
