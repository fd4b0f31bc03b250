import { type Clock, sleep } from '../../base/clock.ts'
import type { OutgoingMessage } from '../message.ts'
import type { Channel } from './outgoing.ts'

/** Spaces the messages of a number. */
export type Pacer = {
  /** Resolves when the message may be sent. */
  wait(message: OutgoingMessage, channel: Channel): Promise<void>
}

/** Timers fire a few milliseconds late; up to this much is subtracted from the next wait. */
const lateMs = 20

/**
 * A claim has the messages of a quarter of a second, each with its wait. Each message also waits for
 * the one before it, because WhatsApp limits the rate of arrivals: so they stay spaced after the run was
 * blocked. It knows the `capacity` numbers that sent last: the spacing of any other has passed.
 */
export function createPacer(clock: Clock, capacity = 10_000): Pacer {
  // In order of last use.
  const lines = new Map<string, Promise<number>>()

  /** Resolves with the time at which the message was sent, or should have been. */
  async function leave(before: Promise<number>, due: number, spacing: number): Promise<number> {
    const at = Math.max(due, await before + spacing)
    const now = clock.now()
    if (at > now) await sleep(clock, at - now)
    return Math.max(at, clock.now() - lateMs)
  }

  return {
    async wait({ wait_ms }, { phone_number_id, spacing_ms }): Promise<void> {
      const before = lines.get(phone_number_id) ?? Promise.resolve(-Infinity)
      const left = leave(before, clock.now() + wait_ms, spacing_ms)
      lines.delete(phone_number_id)
      lines.set(phone_number_id, left)
      if (lines.size > capacity) {
        for (const longestUnused of lines.keys()) {
          lines.delete(longestUnused)
          break
        }
      }
      await left
    },
  }
}
