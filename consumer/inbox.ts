import postgres from 'postgres'
import { messageOf } from '../functions/_shared/base/errors.ts'
import { notInstalled } from '../functions/_shared/database/modules.ts'
import { isJson } from './dead_letter.ts'
import type { DeadMessage, Handled, Message } from './message.ts'

export type InboxOptions = {
  /** A connection string; its role needs EXECUTE on `outbox.consume` and on the handler. */
  url: string
  /** The consumer's name, under which the inbox keeps what it has. */
  consumer: string
  /** How long a handler may take. */
  timeoutMs: number
  /** How many messages at a time. */
  concurrency: number
}

/** The database's side of a consumer. */
export type Inbox = {
  /** Throws an error in the database's words when it is no function that can be a handler. */
  check(functionName: string): Promise<void>
  /** Hands a message to a SQL function, in one transaction with the note that it is known. */
  consume(message: Message, functionName: string): Promise<Handled>
  /** Does `work` between the note and its commit; what fails leaves no note. */
  around(message: Message, work: () => Promise<Handled>): Promise<Handled>
  /** Publishes `outhook.consumer.dead_lettered`. */
  report(dead: DeadMessage, dlq: string): Promise<void>
  close(): Promise<void>
}

/** Beyond a handler's own time: a call without an answer by then has lost its connection. */
const graceMs = 5_000

/** Rolls back, and carries what came of the work. */
class Undone extends Error {
  readonly handled: Handled

  constructor(handled: Handled) {
    super('the work was not done')
    this.handled = handled
  }
}

/** Opens the inbox; it connects at the first call, and again after each loss. */
export function openInbox(options: InboxOptions): Inbox {
  const { consumer, timeoutMs } = options
  let sql = open(options)

  async function attempt(call: (sql: postgres.Sql) => Promise<Handled>): Promise<Handled> {
    const used = sql
    try {
      return await within(timeoutMs + graceMs, call(used))
    } catch (error) {
      if (error instanceof Undone) return error.handled
      const missing = missingInbox(error)
      // No message is at fault: it waits until the module is there.
      if (missing !== null) return { kind: 'unavailable', error: missing }
      if (!isAway(error)) return { kind: 'failed', error: messageOf(error), isFinal: false }
      // postgres.js connects again by itself, but not after every loss.
      if (sql === used) {
        sql = open(options)
        used.end({ timeout: 0 }).catch(() => {})
      }
      return { kind: 'unavailable', error: messageOf(error) }
    }
  }

  return {
    async check(functionName): Promise<void> {
      try {
        await sql`select outbox.check_handler(${functionName})`
      } catch (cause) {
        throw new Error(missingInbox(cause) ?? messageOf(cause), { cause })
      }
    },

    async consume({ id, body }, functionName): Promise<Handled> {
      const text = body.toString('utf8')
      if (!isJson(text)) return { kind: 'failed', error: 'The message is not JSON', isFinal: true }
      return await attempt(async (sql) => {
        const [row] = await sql<{ is_new: boolean }[]>`
          select outbox.consume(${consumer}, ${id}, ${functionName}, ${text}) as is_new`
        return { kind: row?.is_new === true ? 'done' : 'known' }
      })
    },

    async around({ id }, work): Promise<Handled> {
      return await attempt((sql) =>
        sql.begin(async (sql): Promise<Handled> => {
          const [row] = await sql<{ is_new: boolean }[]>`
            select outbox.accept_once(${consumer}, ${id}) as is_new`
          if (row?.is_new !== true) return { kind: 'known' }
          const handled = await work()
          if (handled.kind !== 'done') throw new Undone(handled)
          return handled
        })
      )
    },

    async report({ message, error, retryCount }, dlq): Promise<void> {
      const handled = await attempt(async (sql) => {
        await sql`
          select outbox.report_dead_message(p_consumer => ${consumer},
            p_topic => ${message.source}, p_dlq_topic => ${dlq}, p_message_id => ${message.id},
            p_event_type => ${message.eventType}, p_correlation_id => ${message.correlationId},
            p_error => ${error}, p_retry_count => ${retryCount})`
        return { kind: 'done' }
      })
      if ('error' in handled) throw new Error(handled.error)
    },

    close: () => sql.end({ timeout: 1 }),
  }
}

function open({ url, timeoutMs, concurrency }: InboxOptions): postgres.Sql {
  return postgres(url, {
    max: concurrency,
    connect_timeout: 5,
    max_lifetime: null,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: 'outhook consumer', statement_timeout: timeoutMs },
  })
}

/** What to say if the error means that the inbox's functions are not installed, or null. */
function missingInbox(error: unknown): string | null {
  if (!(error instanceof postgres.PostgresError) || error.code !== '42883') return null
  const missing = notInstalled(/\bfunction outbox\.(\w+)\(/.exec(error.message)?.[1] ?? '')
  return missing === null ? null : `${missing.problem}: ${missing.remedy}`
}

/** An error of the connection has no SQLSTATE; 08, 53, 57P and 58 are the server's own trouble. */
function isAway(error: unknown): boolean {
  return !(error instanceof postgres.PostgresError) || /^(08|53|57P|58)/.test(error.code)
}

async function within<Value>(ms: number, promise: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([promise, expired])
  } finally {
    clearTimeout(timer)
  }
}
