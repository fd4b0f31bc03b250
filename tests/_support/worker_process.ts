import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { projectRoot } from '../../supabase/local/schema/project.ts'

/** The main module of a worker. */
export const workerModule = 'functions/deliver/worker.ts'

/** The command that runs a worker under this Deno; `module` is its main module. */
export function denoCommand(module: string): readonly string[] {
  return [Deno.execPath(), 'run', '-A', '--no-check', '--cached-only', module]
}

/** A worker in a process of its own. */
export interface WorkerProcess {
  /** Sends the signal: SIGKILL at once, another one once the worker has started and acts on it. */
  kill(signal: Deno.Signal): void
  /** The lines that it has logged. */
  readonly log: string[]
  /** Resolves with the exit code, or with the signal that ended it. */
  readonly ended: Promise<number | string>
}

/**
 * Starts a worker on the database at `dbUrl`, with more environment variables if given, for the local stack's
 * project. `program` is the path of its main module from the root of the project, or the command of
 * workerCommand().
 */
export function startWorker(
  dbUrl: string,
  env: Record<string, string> = {},
  program: string | readonly string[] = workerModule,
): WorkerProcess {
  const [command = '', ...args] = typeof program === 'string' ? denoCommand(program) : program
  const child = new Deno.Command(command, {
    args,
    cwd: projectRoot,
    env: { OUTHOOK_DB_URL: dbUrl, OUTHOOK_PROJECT: 'local', NO_COLOR: '1', ...env },
    stdin: 'null',
    stdout: 'piped',
    stderr: 'piped',
  }).spawn()
  const log: string[] = []
  const started = Promise.withResolvers<void>()
  const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> => {
    for await (const line of createInterface({ input: Readable.from(stream) })) {
      log.push(line)
      if (line.includes('worker started')) started.resolve()
    }
  }
  const ended = Promise.all([child.status, read(child.stdout), read(child.stderr)])
    .then(([{ code, signal }]) => signal ?? code)
  let isOver = false
  ended.then(() => {
    isOver = true
    started.resolve()
  })
  const kill = (signal: Deno.Signal): void => {
    if (signal === 'SIGKILL') return child.kill(signal)
    started.promise.then(() => {
      if (!isOver) child.kill(signal)
    })
  }
  return { kill, log, ended }
}
