import { printRaw } from '../../supabase/local/print.ts'
import { duration } from './report.ts'

/** The end of a child process: its exit code and all that it printed, in order of arrival. */
export interface Ended {
  code: number
  /** The signal that ended it, or null. */
  signal: Deno.Signal | null
  output: string
}

/** What to run. `live` copies the output to our own as it comes; after `limitMs` the process is killed. */
export interface Command {
  path: string
  args: string[]
  cwd: string
  env?: Record<string, string>
  live?: boolean
  limitMs?: number
}

const children = new Set<Deno.ChildProcess>()

/** Run a command to its end, without standard input. A missing program ends with code 127. */
export async function run(command: Command): Promise<Ended> {
  let child: Deno.ChildProcess
  try {
    child = new Deno.Command(command.path, {
      args: command.args,
      cwd: command.cwd,
      env: command.env ?? {},
      stdin: 'null',
      stdout: 'piped',
      stderr: 'piped',
    }).spawn()
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error
    const output = `Cannot run ${command.path}: there is no such program\n`
    return { code: 127, signal: null, output }
  }
  children.add(child)
  const pieces: string[] = []
  let lastRead = performance.now()
  const end = command.limitMs === undefined ? undefined : setTimeout(() => {
    pieces.push(
      `\nStopped, because it had not ended after ${duration((command.limitMs ?? 0) / 1000)}\n`,
    )
    child.kill('SIGKILL')
  }, command.limitMs)
  try {
    const streams = Promise.all([child.stdout, child.stderr].map((stream) => collect(stream)))
    const { code, signal } = await child.status
    await quiet(streams)
    return { code, signal, output: pieces.join('') }
  } finally {
    clearTimeout(end)
    children.delete(child)
  }

  /** A process that the child left may hold its output open: waits until a second passes without any. */
  async function quiet(streams: Promise<unknown>): Promise<void> {
    let open = true
    void streams.finally(() => open = false)
    lastRead = performance.now()
    while (open && performance.now() - lastRead < 1_000) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  async function collect(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    for await (const bytes of stream) {
      const text = decoder.decode(bytes, { stream: true })
      pieces.push(text)
      lastRead = performance.now()
      if (command.live) printRaw(text)
    }
  }
}

/** Ask every child that still runs to end. */
export function interruptChildren(): void {
  for (const child of children) {
    try {
      child.kill('SIGINT')
    } catch {
      // It ended between the look and the signal.
    }
  }
}
