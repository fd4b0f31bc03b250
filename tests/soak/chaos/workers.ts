import { startWorker, type WorkerProcess } from '../../_support/worker_process.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { type Clock, makeClock } from './clock.ts'

/** Worker processes, each of which is replaced when it is killed. */
export interface Workers {
  readonly count: number
  /** Kills one with -9 and starts another after `ms`. */
  replace(n: number, ms: number): Promise<void>
  /** Stops one in order and starts another. */
  restart(n: number): Promise<void>
  /** Freezes one for `ms`. */
  freeze(n: number, ms: number): Promise<void>
  /** The clock of one jumps by so many seconds, and back after `ms`. The database's does not. */
  moveClock(n: number, seconds: number, ms: number): Promise<void>
  /** How each ended that nobody had ended, with its last lines. */
  readonly died: readonly string[]
  stop(): Promise<void>
}

/** How often moveClock() tries it. */
const MOVES = 10

/** Starts `count` workers on the database at `url`. */
export function startWorkers(url: string, count: number): Workers {
  const died: string[] = []
  const told = new WeakSet<WorkerProcess>()
  /** Those with a clock that can be moved. */
  const moved = new WeakSet<WorkerProcess>()
  const workers = Array.from({ length: count }, () => begin())

  function begin(env: Record<string, string> = {}): WorkerProcess {
    const worker = startWorker(url, env)
    if ('FAKETIME_TIMESTAMP_FILE' in env) moved.add(worker)
    void worker.ended.then((how) => {
      if (told.has(worker)) return
      died.push(`a worker ended by itself (${how}): ${worker.log.slice(-12).join(' | ')}`)
      const n = workers.indexOf(worker)
      if (n >= 0) workers[n] = begin()
    })
    return worker
  }

  async function next(
    n: number,
    before: WorkerProcess,
    ms: number,
    env: Record<string, string> = {},
  ): Promise<void> {
    await before.ended
    await pause(ms)
    // Another fault may have replaced it meanwhile.
    if (workers[n] === before) workers[n] = begin(env)
  }

  async function restart(n: number, env: Record<string, string> = {}): Promise<void> {
    const worker = workers[n]
    if (worker === undefined) return
    signal(n, 'SIGTERM')
    await next(n, worker, 0, env)
  }

  /** Whether the worker whose clock it moved was there to the end. */
  async function moveOnce(n: number, clock: Clock, seconds: number, ms: number): Promise<boolean> {
    await clock.set(0)
    await restart(n, clock.env)
    const worker = workers[n]
    if (worker === undefined || !moved.has(worker)) return false
    await pause(1_000)
    await clock.set(seconds)
    await pause(ms + 1_000)
    const isSame = workers[n] === worker
    await clock.set(0)
    await pause(1_000)
    if (workers[n] === worker) await restart(n)
    return isSame
  }

  function signal(n: number, name: Deno.Signal): void {
    const worker = workers[n]
    if (worker === undefined) return
    if (name === 'SIGKILL' || name === 'SIGTERM') told.add(worker)
    try {
      worker.kill(name)
    } catch (error) {
      // It has just been killed.
      if (!(error instanceof TypeError)) throw error
    }
  }

  return {
    count,
    async replace(n, ms): Promise<void> {
      const worker = workers[n]
      if (worker === undefined) return
      signal(n, 'SIGKILL')
      await next(n, worker, ms)
    },
    restart: (n) => restart(n),
    async moveClock(n, seconds, ms): Promise<void> {
      const clock = await makeClock({ threads: true })
      try {
        let isMoved = false
        // Another fault may replace the worker meanwhile. Then no clock has moved, and it begins again.
        for (let turn = 0; turn < MOVES && !isMoved; turn++) {
          isMoved = await moveOnce(n, clock, seconds, ms)
        }
        if (!isMoved) throw new Error(`worker ${n} was replaced ${MOVES} times: no clock moved`)
      } finally {
        await clock.remove()
      }
    },
    async freeze(n, ms): Promise<void> {
      const worker = workers[n]
      signal(n, 'SIGSTOP')
      await pause(ms)
      if (workers[n] === worker) signal(n, 'SIGCONT')
    },
    died,
    async stop(): Promise<void> {
      for (const [n, worker] of workers.entries()) {
        // Before that it has not yet asked to hear of signals.
        await waitUntil(() => worker.log.length > 0, { timeoutMs: 20_000 })
        signal(n, 'SIGTERM')
      }
      const late = setTimeout(() => workers.forEach((_, n) => signal(n, 'SIGKILL')), 20_000)
      await Promise.all(workers.map(({ ended }) => ended))
      clearTimeout(late)
    },
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
