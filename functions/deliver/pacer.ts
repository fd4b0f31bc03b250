import { type Clock, sleep } from '../_shared/clock.ts'
import type { Channel, OutgoingMessage } from '../_shared/contracts.ts'

/** Holds messages back until their turn has come. */
export type Pacer = {
  /** Resolves when the message may leave by its number. */
  wait(message: OutgoingMessage, channel: Channel): Promise<void>
}

/**
 * A claim brings the messages of a quarter of a second, and says when each is due; a run that was
 * held up itself still keeps them apart, for WhatsApp counts what arrives.
 */
export function createPacer(clock: Clock): Pacer {
  const free = new Map<string, number>()
  return {
    async wait({ wait_ms }, { phone_number_id, spacing_ms }): Promise<void> {
      const now = clock.now()
      const at = Math.max(now + wait_ms, free.get(phone_number_id) ?? now)
      free.set(phone_number_id, at + spacing_ms)
      if (at > now) await sleep(clock, at - now)
    },
  }
}
