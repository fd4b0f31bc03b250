import { printRaw } from '../../supabase/local/print.ts'

/** The end of a child process: its exit code and all that it printed, in order of arrival. */
export interface Ended {
  code: number
  output: string
}

/** What to run. `live` copies the output to our own as it comes. */
export interface Command {
  path: string
  args: string[]
  cwd: string
  env?: Record<string, string>
  live?: boolean
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
    return { code: 127, output: `Cannot run ${command.path}: there is no such program\n` }
  }
  children.add(child)
  const pieces: string[] = []
  try {
    const streams = Promise.all([child.stdout, child.stderr].map((stream) => collect(stream)))
    const { code } = await child.status
    // A process left behind by the child may hold its output open for ever: give it a second.
    await within(1_000, streams)
    return { code, output: pieces.join('') }
  } finally {
    children.delete(child)
  }

  async function collect(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    for await (const bytes of stream) {
      const text = decoder.decode(bytes, { stream: true })
      pieces.push(text)
      if (command.live) printRaw(text)
    }
  }
}

async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  await Promise.race([work, timeout])
  clearTimeout(timer)
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
