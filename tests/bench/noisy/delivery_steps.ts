/** What the noisy organisation does to its deliveries and dead letters, and its jobs that send again. */

import { type Calls, idOf, type Steps } from './calls.ts'

/** Half of the jobs that an organisation may have; the loop `replay` has the others. */
const MOST_BACKFILLS = 5

export function deliverySteps(
  { call, ids }: Calls,
): Steps<'deliveries' | 'act' | 'dead-letters' | 'replay' | 'backfill'> {
  let backfills: string[] = []

  /** Attempts each open delivery of a page now, or cancels it; replays each finished one. */
  async function act(): Promise<void> {
    for (const [n, id] of (await ids('/deliveries?status=retrying&limit=50')).entries()) {
      await call('POST', `/deliveries/${id}/${n % 2 === 0 ? 'retry' : 'cancel'}`)
    }
    for (const id of await ids('/deliveries?status=delivered&limit=50')) {
      await call('POST', `/deliveries/${id}/replay`)
    }
  }

  async function deadLetters(): Promise<void> {
    await call('GET', '/dead-letter-groups')
    for (const [n, id] of (await ids('/dead-letters?status=open&limit=100')).entries()) {
      if (n % 2 === 0) await call('POST', `/dead-letters/${id}/replay`)
      else await call('POST', `/dead-letters/${id}/discard`, { reason: 'noise' })
    }
  }

  async function replay(): Promise<void> {
    await call('POST', '/replay-jobs/preview', {})
    const job = idOf(await call('POST', '/replay-jobs', { ratePerSecond: 1000 }))
    if (job === null) return
    await call('POST', `/replay-jobs/${job}/pause`)
    await call('POST', `/replay-jobs/${job}/resume`)
  }

  /** A preview and a job for each endpoint in turn, the oldest cancelled for the newest. */
  async function backfill(): Promise<void> {
    for (const id of await ids('/endpoints?limit=50')) {
      const [oldest] = backfills
      if (oldest !== undefined && backfills.length >= MOST_BACKFILLS) {
        await call('POST', `/replay-jobs/${oldest}/cancel`)
        backfills = backfills.slice(1)
      }
      await call('POST', `/endpoints/${id}/backfills/preview`, {})
      const job = idOf(await call('POST', `/endpoints/${id}/backfills`, { ratePerSecond: 1000 }))
      if (job !== null) backfills = [...backfills, job]
    }
  }

  return {
    deliveries: () => call('GET', '/deliveries?status=pending&limit=100'),
    act,
    'dead-letters': deadLetters,
    replay,
    backfill,
  }
}
