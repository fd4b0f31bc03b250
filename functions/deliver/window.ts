import type { Clock } from '../_shared/base/clock.ts'
import type { RunState } from './state.ts'

export type WindowOptions = {
  clock: Clock
  /** Its `started` and `slow` give the number of sends in flight. */
  state: RunState
  /** At this many sends in flight no more start until `step` of them have a result. */
  size: number
  step: number
  /** The longest wait for room. */
  patienceMs: number
}

/** Limits the sends in flight. */
export type Window = {
  /** Resolves with true when there is room, with false after `patienceMs`. */
  room(): Promise<boolean>
  /** Call it after each result. */
  resultCame(): void
}

/**
 * Creates a window. Each send in flight has buffers in memory that the garbage collector copies
 * repeatedly: a delivery takes 85 µs of a worker's CPU with 600 sends in flight, and 75 µs with 64. Slow
 * endpoints still get all slots, because the wait is short and slow sends do not count.
 */
export function createWindow(
  { clock, state, size, step, patienceMs }: WindowOptions,
): Window {
  const waiting = new Set<(hasRoom: boolean) => void>()

  function quick(): number {
    return state.started - state.slow
  }

  function room(): Promise<boolean> {
    if (quick() < size) return Promise.resolve(true)
    return new Promise((resolve) => {
      const cancel = clock.after(patienceMs, () => go(false))
      waiting.add(go)

      function go(hasRoom: boolean): void {
        waiting.delete(go)
        cancel()
        resolve(hasRoom)
      }
    })
  }

  function resultCame(): void {
    if (waiting.size === 0 || quick() > size - step) return
    for (const go of [...waiting]) go(true)
  }

  return { room, resultCame }
}
