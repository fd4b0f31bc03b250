import { type Clock, sleep } from '../functions/_shared/base/clock.ts'
import { messageOf } from '../functions/_shared/base/errors.ts'
import type { Log } from '../functions/_shared/base/log.ts'
import type { OriginalEvent } from './dead_letter.ts'
import type { Recovery } from './recovery.ts'

/** The pauses between the five attempts to record a published message. */
const pausesMs = [1_000, 2_000, 4_000, 8_000]

/** The broker has a message, but the database has not recorded that. Its text is for the operator. */
export class NotRecorded extends Error {
  constructor({ id, endpointId }: OriginalEvent, cause: unknown) {
    super(
      `event ${id} of endpoint ${endpointId} is published, but not recorded: ${
        messageOf(cause)
      }. ` +
        'The database opens its dead letter again after an hour, and a later replay would publish it ' +
        `a second time. Within this hour, call: select outbox.record_broker_replay('${id}', ` +
        `'${endpointId}'). Nothing after this message is published`,
      { cause },
    )
    this.name = 'NotRecorded'
  }
}

/**
 * Records a message that the broker has, in at most five attempts with pauses of 1, 2, 4 and 8 s. Rejects
 * with NotRecorded after the last one. Then the caller must publish nothing more: each further message
 * would not be recorded either. It must not publish this message again. `stop` ends the pauses.
 */
export async function recordPublished(
  recovery: Recovery,
  event: OriginalEvent | null,
  { clock, log, stop }: { clock: Clock; log: Log; stop: AbortSignal },
): Promise<void> {
  if (event === null) return await recovery.record(event, true)
  for (let attempt = 1;; attempt++) {
    try {
      return await recovery.record(event, true)
    } catch (error) {
      log('warn', 'published, but not recorded', {
        event: event.id,
        attempt,
        error: messageOf(error),
      })
      const pauseMs = pausesMs[attempt - 1]
      if (pauseMs === undefined) throw new NotRecorded(event, error)
      await sleep(clock, pauseMs, stop)
    }
  }
}
