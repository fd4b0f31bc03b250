import { type Clock, sleep } from '../../base/clock.ts'
import type { Channel, OutgoingMessage } from './outgoing.ts'

/** Holds messages back until their turn has come. */
export type Pacer = {
  /** Resolves when the message may leave by its number. */
  wait(message: OutgoingMessage, channel: Channel): Promise<void>
}

/** Timers are late by a few milliseconds: so much may be made up for. */
const lateMs = 20

/**
 * A claim brings the messages of a quarter of a second, and says when each is due. Each leaves
 * behind the one before it: a run that was held up itself keeps them apart all the same, for
 * WhatsApp counts what arrives.
 */
export function createPacer(clock: Clock): Pacer {
  const lines = new Map<string, Promise<number>>()

  /** Resolves to when it left, or should have. */
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
      lines.set(phone_number_id, left)
      await left
    },
  }
}
