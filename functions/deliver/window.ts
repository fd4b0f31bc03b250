import type { Clock } from '../_shared/base/clock.ts'
import type { RunState } from './state.ts'

export type WindowOptions = {
  clock: Clock
  /** Its `begun` and `slow` say what is on its way. */
  state: RunState
  /** So many on their way, and no more are begun until `step` of them are answered. */
  size: number
  step: number
  /** The longest wait for room. */
  patienceMs: number
}

/** Bounds what is on its way at once. */
export type Window = {
  /** Resolves with true when there is room, with false when that took too long. */
  room(): Promise<boolean>
  /** To be called after each answer. */
  answered(): void
}

/**
 * What is begun before the answers of others are in waits with its buffers in memory, and the
 * collector of garbage copies it again and again: with 600 on their way a delivery takes 85 µs of a
 * worker's CPU, with 64 it is 75. Endpoints that take their time still get all the slots there are,
 * since a wait is short and what is slow does not count.
 */
export function createWindow(
  { clock, state, size, step, patienceMs }: WindowOptions,
): Window {
  const waiting = new Set<(hasRoom: boolean) => void>()

  function quick(): number {
    return state.begun - state.slow
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

  function answered(): void {
    if (waiting.size === 0 || quick() > size - step) return
    for (const go of [...waiting]) go(true)
  }

  return { room, answered }
}
