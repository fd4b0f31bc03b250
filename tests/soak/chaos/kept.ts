import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

/** A process that is started again when it ends, as a platform does it. */
export interface Kept extends AsyncDisposable {
  /** Resolves when it has printed `ready`. */
  ready(): Promise<void>
  /** The rest of its last line with that first word, or null. */
  said(word: string): string | null
  /** Kills it with -9; it starts again after `ms`. */
  kill(ms: number): void
}

/** Starts the program `module` with these variables. */
export function keep(module: string, env: Record<string, string>): Kept {
  let isOver = false
  let delayMs = 0
  let child: Deno.ChildProcess | null = null
  let isReady = Promise.withResolvers<void>()
  const words = new Map<string, string>()

  async function run(): Promise<void> {
    while (!isOver) {
      const running = new Deno.Command(Deno.execPath(), {
        args: ['run', '-A', '--no-check', '--cached-only', module],
        cwd: projectRoot,
        env: { NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1', ...env },
        stdin: 'piped',
        stdout: 'piped',
        stderr: 'null',
      }).spawn()
      child = running
      for await (const line of createInterface({ input: Readable.from(running.stdout) })) {
        const [word = '', ...rest] = line.split(' ')
        words.set(word, rest.join(' '))
        if (word === 'ready') isReady.resolve()
      }
      await running.status
      await running.stdin.close().catch(() => {})
      child = null
      words.clear()
      isReady = Promise.withResolvers()
      if (!isOver) await new Promise((resolve) => setTimeout(resolve, delayMs))
      delayMs = 200
    }
  }

  const running = run()
  return {
    ready: () => isReady.promise,
    said: (word) => words.get(word) ?? null,
    kill(ms): void {
      delayMs = ms
      child?.kill('SIGKILL')
    },
    [Symbol.asyncDispose]: async () => {
      isOver = true
      child?.kill('SIGKILL')
      await running
    },
  }
}
