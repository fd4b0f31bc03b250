/** A process of the bench that is asked a line of JSON at a time. */

import { lineStream } from './lines.ts'

export interface Child {
  readonly pid: number
  /** What it said at its start. */
  readonly hello: Record<string, unknown>
  /** Asks and waits for the answer; throws when the process says or makes an error. */
  ask<T>(request: unknown): Promise<T>
  /** Ends its input, on which it ends itself. */
  end(): Promise<void>
}

const END_MS = 10_000
/** The longest a single request may take; a child that is late is killed. */
const ASK_MS = 150_000

/** Starts `command`, and resolves when it says that it is ready. What it writes to standard error is kept for the error. */
export async function startChild(
  name: string,
  command: string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Child> {
  const [program = '', ...args] = command
  const child = new Deno.Command(program, {
    args,
    ...options,
    stdin: 'piped',
    stdout: 'piped',
    stderr: 'piped',
  }).spawn()
  const failure = keepTail(child.stderr)
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(lineStream())
    .getReader()
  const input = child.stdin.getWriter()

  async function next(): Promise<Record<string, unknown>> {
    for (;;) {
      const { value, done } = await lines.read()
      if (done) throw new Error(`${name} ended: ${(await failure()).trim()}`)
      if (!value.startsWith('@')) continue
      const answer = JSON.parse(value.slice(1))
      if (typeof answer.error === 'string') throw new Error(`${name}: ${answer.error}`)
      return answer
    }
  }

  return {
    pid: child.pid,
    hello: await next(),
    ask: async <T>(request: unknown) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), ASK_MS)
      try {
        await input.write(new TextEncoder().encode(`${JSON.stringify(request)}\n`))
        // SAFETY: both ends are this bench's, and the caller names the shape of its answer.
        return await next() as T
      } finally {
        clearTimeout(timer)
      }
    },
    end: async () => {
      await input.close().catch(() => {})
      const timer = setTimeout(() => child.kill('SIGKILL'), END_MS)
      await child.status
      clearTimeout(timer)
      await lines.cancel()
    },
  }
}

/** Reads a stream to its end and keeps the last of it. */
function keepTail(stream: ReadableStream<Uint8Array>): () => Promise<string> {
  let tail = ''
  const done = (async () => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      tail = (tail + text).slice(-4_000)
    }
  })()
  return async () => {
    await done
    return tail
  }
}
