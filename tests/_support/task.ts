import { projectRoot } from '../../supabase/local/schema/project.ts'

/** How a task ended. */
export interface TaskEnd {
  code: number
  stdout: string
  stderr: string
}

/** A task of deno.json in a process of its own. */
export interface RunningTask {
  /** Resolves with the first line of standard output that matches; rejects when the task ends before. */
  line(pattern: RegExp): Promise<string>
  kill(signal: Deno.Signal): void
  readonly pid: number
  readonly ended: Promise<TaskEnd>
}

/** How a task is started. */
export interface TaskOptions {
  args: string[]
  /** The project; this one unless said otherwise. */
  cwd?: string
  /** More variables; an empty text takes one away. */
  env?: Record<string, string>
  /** What comes before the command, such as a program that changes its surroundings. */
  prefix?: string[]
}

/** Starts what `deno task <args>` starts, in the same process that it would be in. */
export function startTask(
  { args, cwd = projectRoot, env = {}, prefix = [] }: TaskOptions,
): RunningTask {
  const variables = { ...Deno.env.toObject(), NO_COLOR: '1', ...env }
  const given = Object.entries(variables).filter(([, value]) => value !== '')
  const [command = '', ...words] = [
    ...prefix,
    Deno.execPath(),
    ...['run', '-A', '--cached-only', 'supabase/local/begin.ts'],
    ...args,
  ]
  const child = new Deno.Command(command, {
    args: words,
    cwd,
    clearEnv: true,
    env: Object.fromEntries(given),
    stdin: 'null',
    stdout: 'piped',
    stderr: 'piped',
  }).spawn()
  const awaited = new Set<{ pattern: RegExp; found: (line: string) => void }>()
  let unread = ''
  const lines: string[] = []

  async function read(
    stream: ReadableStream<Uint8Array<ArrayBuffer>>,
    isOut: boolean,
  ): Promise<string> {
    let said = ''
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      said += text
      if (!isOut) continue
      const parts = (unread + text).split('\n')
      unread = parts.pop() ?? ''
      for (const line of parts) {
        lines.push(line)
        for (const { pattern, found } of awaited) if (pattern.test(line)) found(line)
      }
    }
    return said
  }

  const ended = Promise.all([child.status, read(child.stdout, true), read(child.stderr, false)])
    .then(([{ code }, stdout, stderr]) => ({ code, stdout, stderr }))
  return {
    pid: child.pid,
    kill: (signal) => child.kill(signal),
    ended,
    async line(pattern): Promise<string> {
      const before = lines.find((line) => pattern.test(line))
      if (before !== undefined) return before
      const { promise, resolve } = Promise.withResolvers<string>()
      const one = { pattern, found: resolve }
      awaited.add(one)
      const early = ended.then(({ stdout, stderr }) => {
        throw new Error(`the task ended before it said ${pattern}:\n${stdout}\n${stderr}`)
      })
      try {
        return await Promise.race([promise, early])
      } finally {
        awaited.delete(one)
      }
    },
  }
}

/** Runs a task to its end. */
export function runTask(options: TaskOptions): Promise<TaskEnd> {
  return startTask(options).ended
}
