import postgres from 'postgres'
import type { Log } from '../functions/_shared/base/log.ts'
import { limit, within } from '../functions/_shared/database/limited.ts'
import type { OriginalEvent } from './dead_letter.ts'

/** Where a replay publishes a dead letter. `exchange` is null with Kafka, or if the caller named one. */
export type Target = { kind: 'kafka' | 'rabbitmq'; topic: string; exchange: string | null }

/**
 * `claimed`: publish it. `known`: somebody has replayed or discarded it. `moved`: its endpoint
 * publishes to `to` now, so a replay in the database publishes it there.
 */
export type Claim = { kind: 'claimed' } | { kind: 'known' } | { kind: 'moved'; to: string }

/**
 * The database's side of a replay, so that a dead letter has one status. Only those of Outhook's own
 * endpoints are stored there: for all others, `event` is null and nothing happens.
 */
export type Recovery = {
  /** Claims this dead letter, to publish it to `target`. Rejects without the database. */
  claim(event: OriginalEvent | null, target: Target): Promise<Claim>
  /** Records whether the broker has the message again, or refuses it. Rejects without the database. */
  record(event: OriginalEvent | null, isPublished: boolean): Promise<void>
  close(): Promise<void>
}

const claimed: Claim = { kind: 'claimed' }

const timeoutMs = 15_000
/** Added to the time limit of the statements; after it the connection counts as lost. */
const graceMs = 5_000
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Opens the database with the dead letters; it connects at the first call, and again after each lost one. */
export function openRecovery(url: string): Recovery {
  let sql = open(url)

  async function call(
    work: (sql: postgres.TransactionSql) => Promise<ClaimResponse | undefined>,
  ): Promise<ClaimResponse | undefined> {
    const used = sql
    const called = used.begin(async (sql) => {
      await sql.unsafe(limit(timeoutMs))
      return await work(sql)
    })
    try {
      return await within(timeoutMs + graceMs, called)
    } catch (error) {
      if (!(error instanceof postgres.PostgresError) && sql === used) {
        sql = open(url)
        used.end({ timeout: 0 }).catch(() => {})
      }
      throw error
    }
  }

  return {
    async claim(event, { kind, topic, exchange }): Promise<Claim> {
      if (event === null || !isOurs(event)) return claimed
      const { id, endpointId } = event
      const response = await call(async (sql) => {
        const [row] = await sql<{ response: ClaimResponse }[]>`
          select outbox.claim_broker_replay(
            ${id}, ${endpointId}, ${kind}, ${topic}, ${exchange})::text::json as response`
        return row?.response
      })
      return response === undefined ? claimed : claimOf(response)
    },

    async record(event, isPublished): Promise<void> {
      if (event === null || !isOurs(event)) return
      const { id, endpointId } = event
      await call(async (sql) => {
        await sql`select outbox.record_broker_replay(${id}, ${endpointId}, ${isPublished})`
        return undefined
      })
    },

    close: () => sql.end({ timeout: 1 }),
  }
}

type ClaimResponse = { claimed: boolean; is_stored: boolean; moved_to: string | null }

function claimOf({ claimed: isClaimed, is_stored: isStored, moved_to: to }: ClaimResponse): Claim {
  // Not stored: a dead letter of another database, or one that the retention has deleted.
  if (isClaimed || !isStored) return claimed
  return to === null ? { kind: 'known' } : { kind: 'moved', to }
}

/** Logs that a dead letter stays in its topic, because its endpoint publishes elsewhere now. */
export function logMoved(event: OriginalEvent | null, topic: string, to: string, log: Log): void {
  log('warn', 'dead letter not replayed', {
    ...event === null ? {} : { event: event.id, endpoint: event.endpointId },
    topic,
    error: `its endpoint publishes to ${to} now: call outbox.replay() for this event and endpoint`,
  })
}

function open(url: string): postgres.Sql {
  return postgres(url, {
    max: 1,
    // A transaction pooler may not have it.
    prepare: false,
    connect_timeout: 5,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: 'outhook replay' },
  })
}

/** Says once that the dead letters of endpoints stay open in the database. */
export function withoutDatabase(log: Log): Recovery {
  let isSaid = false
  return {
    claim: () => Promise.resolve(claimed),
    record(event, isPublished): Promise<void> {
      if (event !== null && isPublished && !isSaid) {
        isSaid = true
        log('warn', 'dead letters stay open in the database', {
          error: 'OUTHOOK_DB_URL is not set: set it to the database of the endpoints',
        })
      }
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
  }
}

function isOurs({ id, endpointId }: OriginalEvent): boolean {
  return uuid.test(id) && uuid.test(endpointId)
}
