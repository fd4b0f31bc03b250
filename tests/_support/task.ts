import { projectRoot } from '../../supabase/local/schema/project.ts'

/** How a task ended. */
export interface TaskEnd {
  code: number
  stdout: string
  stderr: string
}

/** A task of deno.json in a process of its own. */
export interface RunningTask {
  /** Resolves with the first line that matches; rejects when the task ends before. */
  line(pattern: RegExp): Promise<string>
  kill(signal: Deno.Signal): void
  /** What Ctrl-C does on a terminal: SIGINT for every process of its group. */
  interruptGroup(): Promise<void>
  readonly ended: Promise<TaskEnd>
}

/** How a task is started. */
export interface TaskOptions {
  args: string[]
  /** The project; this one unless said otherwise. */
  cwd?: string
  /** Additional variables; an empty text removes one. */
  env?: Record<string, string>
  /** A prefix for the command, such as a program that changes its environment. */
  prefix?: string[]
  /** Makes it the leader of a process group, which `interruptGroup` then reaches. */
  ownGroup?: boolean
}

/** Starts the same process as `deno task <args>`. */
export function startTask(
  { args, cwd = projectRoot, env = {}, prefix = [], ownGroup = false }: TaskOptions,
): RunningTask {
  const variables = { ...Deno.env.toObject(), NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1', ...env }
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
    detached: ownGroup,
  }).spawn()
  const awaited = new Set<{ pattern: RegExp; found: (line: string) => void }>()
  const lines: string[] = []

  async function read(
    stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  ): Promise<string> {
    let said = ''
    let unread = ''
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      said += text
      const parts = (unread + text).split('\n')
      unread = parts.pop() ?? ''
      for (const line of parts) {
        lines.push(line)
        for (const { pattern, found } of awaited) if (pattern.test(line)) found(line)
      }
    }
    return said
  }

  const ended = Promise.all([child.status, read(child.stdout), read(child.stderr)])
    .then(([{ code }, stdout, stderr]) => ({ code, stdout, stderr }))
  return {
    async interruptGroup(): Promise<void> {
      await new Deno.Command('sh', {
        args: ['-c', 'kill -s INT -- "-$1"', 'sh', String(child.pid)],
      })
        .output()
    },
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
