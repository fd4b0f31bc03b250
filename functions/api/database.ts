import { createClient } from '@supabase/supabase-js'
import type { z } from 'zod'
import type { Database as Schema } from '../_shared/database.types.ts'
import { messageOf } from '../_shared/errors.ts'
import { ApiError } from './errors.ts'
import { readSqlError } from './sql_error.ts'

type Functions = Schema['outbox']['Functions']

/** The SQL functions by name, with the arguments that they take. */
export type FunctionName = keyof Functions & string
export type FunctionArgs<Name extends FunctionName> = Functions[Name]['Args']

/** The one way from the API to the database. */
export type ApiDatabase = {
  /**
   * Calls a SQL function and reads its answer by a schema, so that nothing leaves the API that its
   * description does not name. Throws ApiError: the database's own refusals in its words,
   * `unavailable` for what passes by itself, `internal` for the rest.
   */
  call<Name extends FunctionName, Answer>(
    name: Name,
    args: FunctionArgs<Name>,
    answer: z.ZodType<Answer>,
  ): Promise<Answer>
}

export type ApiDatabaseOptions = {
  /** The project's URL, as SUPABASE_URL gives it. */
  url: string
  /** A secret key, or the legacy service role key. */
  key: string
  /** Milliseconds after which a call is given up. */
  timeoutMs?: number
}

/** Calls through `/rest/v1/rpc`, as edge functions do. */
export function connectApiDatabase(
  { url, key, timeoutMs = 10_000 }: ApiDatabaseOptions,
): ApiDatabase {
  const client = createClient<Schema, 'outbox'>(url, key, {
    db: { schema: 'outbox' },
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
  })

  async function call<Name extends FunctionName, Answer>(
    name: Name,
    args: FunctionArgs<Name>,
    answer: z.ZodType<Answer>,
  ): Promise<Answer> {
    const { data, error, status } = await send(name, args)
    if (error !== null) throw readSqlError(error, status)
    const read = answer.safeParse(data)
    if (read.success) return read.data
    const [issue] = read.error.issues
    throw new ApiError('internal', 'The request failed; the log has the reason under its id', {
      cause: new Error(
        `Cannot read the answer of outbox.${name}: ${issue?.path.join('.')}: ${issue?.message}; ` +
          'do the migration and the functions belong to the same version?',
      ),
    })
  }

  async function send<Name extends FunctionName>(
    name: Name,
    args: FunctionArgs<Name>,
  ): Promise<Reply> {
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), timeoutMs)
    try {
      // SAFETY: FunctionArgs has checked the pair; the client's own types cannot follow a generic
      // name to its arguments.
      const rpc = client.rpc as unknown as Rpc
      return await rpc.call(client, name, args).abortSignal(limit.signal)
    } catch (cause) {
      const message = messageOf(cause)
      return { data: null, status: 0, error: { code: '', message, details: null, hint: null } }
    } finally {
      clearTimeout(timer)
    }
  }

  return { call }
}

type Reply = {
  data: unknown
  status: number
  error: { code: string; message: string; details: string | null; hint: string | null } | null
}

type Rpc = (this: unknown, name: string, args: unknown) => {
  abortSignal(signal: AbortSignal): PromiseLike<Reply>
}
