import { waitUntil } from '../../../supabase/local/process/wait.ts'
import type { ConsumerProcess } from '../../consumer/_support/consumer_process.ts'
import { startInto } from '../../consumer/_support/into_command.ts'
import { pause } from '../chaos/fault.ts'
import { within } from '../chaos/server.ts'

/** After SIGTERM one may finish what is in flight for so long. */
const STOP_MS = 30_000

/** Processes of `outhook consume`, all with the same databases and routes. */
export interface Consumers {
  readonly count: number
  /** Ends all of them in order, and starts them with these databases and the routes of now. */
  restart(into: readonly string[]): Promise<void>
  /** Kills one with -9 and starts another after `ms`. */
  replace(n: number, ms: number): Promise<void>
  /** Freezes one for `ms`. */
  freeze(n: number, ms: number): Promise<void>
  /** How each ended that should not have ended so, with its last lines. */
  readonly died: readonly string[]
  stop(): Promise<void>
}

/** Starts none: restart() does. */
export function createConsumers(
  { count, routes, env, databases }: {
    count: number
    /** The file with the routes. */
    routes: string
    env: Record<string, string>
    databases: readonly { name: string; url: string }[]
  },
): Consumers {
  const died: string[] = []
  const running = new Map<number, ConsumerProcess>()
  const told = new WeakSet<ConsumerProcess>()
  let into: readonly string[] = []
  let turn: Promise<unknown> = Promise.resolve()

  /** One at a time: no process may start with old routes after the others have new ones. */
  function inTurn(act: () => Promise<void>): Promise<void> {
    const mine = turn.then(act)
    turn = mine.catch(() => {})
    return mine
  }

  function begin(n: number): void {
    const process = startInto(
      { queue: 'outhook', into: [...into], routes, batch: 20 },
      { env },
      databases.filter(({ name }) => into.includes(name)),
    )
    running.set(n, process)
    void process.ended.then((how) => {
      if (told.has(process)) return
      note(process, `ended by itself (${how})`)
      if (running.get(n) === process) begin(n)
    })
  }

  function note({ lines }: ConsumerProcess, how: string): void {
    died.push(`outhook consume ${how}: ${lines.slice(-12).join(' | ')}`)
  }

  function signal(process: ConsumerProcess | undefined, name: Deno.Signal): void {
    try {
      process?.kill(name)
    } catch (error) {
      // It has just ended.
      if (!(error instanceof TypeError)) throw error
    }
  }

  async function kill(n: number): Promise<void> {
    const process = running.get(n)
    if (process === undefined) return
    told.add(process)
    signal(process, 'SIGKILL')
    await process.ended
    running.delete(n)
  }

  async function endAll(): Promise<void> {
    await Promise.all([...running.keys()].map(async (n) => {
      const process = running.get(n)
      if (process === undefined) return
      told.add(process)
      // Before that a signal ends it like any program that has only begun.
      await waitUntil(() => process.lines.length > 0, { timeoutMs: STOP_MS })
      signal(process, 'SIGTERM')
      const how = await within(process.ended, STOP_MS)
      if (how !== 0) note(process, `ended with ${how ?? 'nothing'} after SIGTERM`)
      await kill(n)
    }))
  }

  return {
    count,
    restart: (names) =>
      inTurn(async () => {
        await endAll()
        into = names
        for (let n = 0; n < count; n++) begin(n)
      }),
    replace: (n, ms) =>
      inTurn(async () => {
        await kill(n)
        await pause(ms)
        begin(n)
      }),
    freeze: (n, ms) =>
      inTurn(async () => {
        const process = running.get(n)
        signal(process, 'SIGSTOP')
        await pause(ms)
        signal(process, 'SIGCONT')
      }),
    died,
    stop: () => inTurn(endAll),
  }
}
