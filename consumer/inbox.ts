import postgres from 'postgres'
import { z } from 'zod'
import { messageOf } from '../functions/_shared/base/errors.ts'
import { isUnprepared, limit, within } from '../functions/_shared/database/limited.ts'
import { notInstalled } from '../functions/_shared/database/modules.ts'
import { isAway } from './away.ts'
import { isJson } from './dead_letter.ts'
import { withoutNul } from './text.ts'
import type { CarriedEvent } from './into/event.ts'
import type { DeadMessage, Failure, Handled, Message } from './message.ts'

export type InboxOptions = {
  /** A connection string; its role needs EXECUTE on `outbox.consume` and on the handler. */
  url: string
  /** The consumer's name in the inbox. */
  consumer: string
  /** The time limit of a handler. */
  timeoutMs: number
  /** How many messages are handled at once. */
  concurrency: number
}

/** The database for a consumer. */
export type Inbox = {
  /** Throws the database's error if the function cannot be a handler. */
  check(functionName: string): Promise<void>
  /** Passes a message to a SQL function, in the transaction that records the message. */
  consume(message: Message, functionName: string): Promise<Handled>
  /** Runs `work` in the transaction that records the message; a failure rolls back. */
  around(message: Message, work: () => Promise<Handled>): Promise<Handled>
  /** Publishes events of another database, each once, in one transaction. */
  take(events: readonly CarriedEvent[]): Promise<Taken>
  /** Publishes `outhook.consumer.dead_lettered`. */
  report(dead: DeadMessage, dlq: string): Promise<Handled>
  close(): Promise<void>
}

const outcomes = z.array(z.object({
  outcome: z.enum(['taken', 'known', 'refused']),
  /** Why it is refused. */
  error: z.string().optional(),
}))

/** What the database says of each event, in the same order. */
export type Taken = { kind: 'taken'; outcomes: z.infer<typeof outcomes> } | Failure

/** Added to the handler's time limit; after it the connection counts as lost. */
const graceMs = 5_000

/** Rolls back, and carries the result of the work. */
class Undone extends Error {
  readonly handled: Handled

  constructor(handled: Handled) {
    super('the work was not done')
    this.handled = handled
  }
}

/** Opens the inbox; it connects at the first call, and again after each lost connection. */
export function openInbox(options: InboxOptions): Inbox {
  const { consumer, timeoutMs } = options
  let prepare = true
  let sql = open(options, prepare)

  async function attempt<Result>(
    call: (sql: postgres.Sql) => Promise<Result>,
  ): Promise<Result | Failure> {
    const [used, prepared] = [sql, prepare]
    try {
      return await within(timeoutMs + graceMs, call(used))
    } catch (error) {
      if (prepared && error instanceof postgres.PostgresError && isUnprepared(error.code)) {
        prepare = false
        renew(used)
        return await attempt(call)
      }
      const missing = missingInbox(error)
      // The message is not the cause: it waits until the module is installed.
      if (missing !== null) return { kind: 'unavailable', error: missing }
      if (!isAway(error)) return { kind: 'failed', error: messageOf(error), isFinal: false }
      // postgres.js reconnects by itself, but not after every error.
      renew(used)
      return { kind: 'unavailable', error: messageOf(error) }
    }
  }

  /** Unless another call has done it. */
  function renew(used: postgres.Sql): void {
    if (sql !== used) return
    sql = open(options, prepare)
    used.end({ timeout: 0 }).catch(() => {})
  }

  return {
    async check(functionName): Promise<void> {
      try {
        await within(timeoutMs + graceMs, sql`select outbox.check_handler(${functionName})`)
      } catch (cause) {
        throw new Error(missingInbox(cause) ?? messageOf(cause), { cause })
      }
    },

    async consume({ id, body }, functionName): Promise<Handled> {
      const text = body.toString('utf8')
      if (!isJson(text)) return { kind: 'failed', error: 'The message is not JSON', isFinal: true }
      return await attempt(async (sql): Promise<Handled> => {
        const [row] = await sql.begin(async (sql) => {
          const [, rows] = await Promise.all([
            sql.unsafe(limit(timeoutMs)),
            sql<{ is_new: boolean }[]>`
              select outbox.consume(${consumer}, ${id}, ${functionName}, ${text}) as is_new`,
          ])
          return rows
        })
        return { kind: row?.is_new === true ? 'done' : 'known' }
      })
    },

    async around({ id }, work): Promise<Handled> {
      return await attempt(async (sql): Promise<Handled> => {
        try {
          return await sql.begin(async (sql): Promise<Handled> => {
            await sql.unsafe(limit(timeoutMs + graceMs))
            const [row] = await sql<{ is_new: boolean }[]>`
              select outbox.accept_once(${consumer}, ${id}) as is_new`
            if (row?.is_new !== true) return { kind: 'known' }
            const handled = await work()
            if (handled.kind !== 'done') throw new Undone(handled)
            return handled
          })
        } catch (error) {
          if (error instanceof Undone) return error.handled
          throw error
        }
      })
    },

    async take(events): Promise<Taken> {
      return await attempt(async (sql): Promise<Taken> => {
        const [row] = await sql.begin(async (sql) => {
          const [, rows] = await Promise.all([
            sql.unsafe(limit(timeoutMs)),
            sql<{ outcomes: unknown }[]>`
              select outbox.take_events(${consumer}, ${JSON.stringify(events)}::text::jsonb)
                as outcomes`,
          ])
          return rows
        })
        return { kind: 'taken', outcomes: outcomes.parse(row?.outcomes) }
      })
    },

    async report({ message, error, retryCount }, dlq): Promise<Handled> {
      return await attempt(async (sql): Promise<Handled> => {
        await sql`
          select outbox.report_dead_message(p_consumer => ${consumer},
            p_topic => ${message.source}, p_dlq_topic => ${dlq}, p_message_id => ${message.id},
            p_event_type => ${message.eventType}, p_correlation_id => ${message.correlationId},
            p_error => ${withoutNul(error)}, p_retry_count => ${retryCount})`
        return { kind: 'done' }
      })
    },

    close: () => sql.end({ timeout: 1 }),
  }
}

function open({ url, concurrency }: InboxOptions, prepare: boolean): postgres.Sql {
  return postgres(url, {
    max: concurrency,
    prepare,
    connect_timeout: 5,
    max_lifetime: null,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: 'outhook consumer' },
  })
}

/** The problem if the inbox's functions are not installed, or null. */
function missingInbox(error: unknown): string | null {
  if (!(error instanceof postgres.PostgresError) || error.code !== '42883') return null
  const missing = notInstalled(/\bfunction outbox\.(\w+)\(/.exec(error.message)?.[1] ?? '')
  return missing === null ? null : `${missing.problem}: ${missing.remedy}`
}
