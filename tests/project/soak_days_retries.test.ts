/** The query that judges the retries of the simulated days: which of them count as late. */

import { expect } from '@std/expect'
import postgres from 'postgres'
import type { Retries } from '../soak/days/figures.ts'
import { startTestPostgres } from '../_support/postgres.ts'

const QUERY = await Deno.readTextFile(new URL('../soak/days/retries.sql', import.meta.url))

/** Second 0 of a case; all of a case is within this day. */
const start = new Date(new Date().setUTCHours(0, 0, 0, 0))
const at = (second: number): Date => new Date(start.getTime() + second * 1000)

Deno.test('a retry is late if it waits for more than a minute without a breaker that is open', async () => {
  await using pg = await startTestPostgres({ migrated: true })
  const sql = postgres(pg.dbUrl, { max: 1 })

  /** The figures of one delivery that fails at second 0 and is sent again at second 1, but is sent at `made`. */
  const retryMadeAt = async (
    made: number,
    breaker: readonly ['opened' | 'closed', second: number, other?: true][],
  ): Promise<Retries> => {
    const [endpoint, other] = [crypto.randomUUID(), crypto.randomUUID()]
    const attempt = { event_id: crypto.randomUUID(), endpoint_id: endpoint, kind: 'attempt' }
    let figures: Retries | undefined
    await sql.begin(async (tx) => {
      await tx`insert into outbox.attempt ${
        tx([
          {
            ...attempt,
            attempt: 1,
            at: at(0),
            outcome: 'failed',
            status: 503,
            next_retry_at: at(1),
          },
          {
            ...attempt,
            attempt: 2,
            at: at(made),
            outcome: 'delivered',
            status: 200,
            next_retry_at: null,
          },
        ])
      }`
      for (const [change, second, isOther] of breaker) {
        const body = JSON.stringify({ endpointId: isOther ? other : endpoint })
        await tx`
          insert into outbox.event (id, org_id, type, body, created_at)
          values (outbox.uuid_v7(${
          at(second)
        }), 'outhook', ${`outhook.breaker.${change}`}, ${body}, ${at(second)})`
      }
      ;[figures] = await tx.unsafe<Retries[]>(QUERY, [at(0), at(3600)])
      await tx`delete from outbox.attempt where endpoint_id = ${endpoint}`
      await tx`delete from outbox.event where org_id = 'outhook'`
    })
    if (figures === undefined) throw new Error('no figures')
    return figures
  }

  const right = { checked: 1, off: 0, early: 0, late: 0, unplanned: 0, held: 0 }
  try {
    expect(await retryMadeAt(3, [])).toEqual({ ...right, worst_s: 2 })
    expect(await retryMadeAt(70, [])).toEqual({ ...right, late: 1, worst_s: 69 })
    // The probe failed at second 30, so the breaker closed at second 65 only.
    expect(await retryMadeAt(70, [['opened', 0], ['closed', 65]]))
      .toEqual({ ...right, held: 1, worst_s: 5 })
    expect(await retryMadeAt(130, [['opened', 0], ['closed', 65]]))
      .toEqual({ ...right, held: 1, late: 1, worst_s: 65 })
    expect(await retryMadeAt(130, [['opened', 0], ['closed', 31], ['opened', 60], ['closed', 90]]))
      .toEqual({ ...right, held: 1, late: 1, worst_s: 69 })
    // It was over before, or was the breaker of another endpoint, or is still open and lets the probe pass.
    expect(await retryMadeAt(70, [['opened', -60], ['closed', 1]]))
      .toEqual({ ...right, late: 1, worst_s: 69 })
    expect(await retryMadeAt(70, [['opened', 0, true], ['closed', 65, true]]))
      .toEqual({ ...right, late: 1, worst_s: 69 })
    expect(await retryMadeAt(70, [['opened', 0]])).toEqual({ ...right, held: 1, worst_s: 0 })
    expect(await retryMadeAt(0.5, [['opened', 0], ['closed', 30]]))
      .toEqual({ ...right, early: 1, worst_s: -0.5 })
  } finally {
    await sql.end({ timeout: 1 })
  }
})
