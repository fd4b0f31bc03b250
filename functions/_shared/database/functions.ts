import { createClient } from '@supabase/supabase-js'
import type { Database as Schema } from './database.types.ts'
import { messageOf } from '../base/errors.ts'

type Functions = Schema['outbox']['Functions']

/** The SQL functions by name, with the arguments that they take. */
export type FunctionName = keyof Functions & string
export type FunctionArgs<Name extends FunctionName> = Functions[Name]['Args']

/** An error as PostgREST passes it on. */
export type SqlError = {
  code: string
  message: string
  details: string | null
  hint: string | null
}

/** What came of a call; `status` is that of the HTTP answer, 0 when none came. */
export type FunctionReply =
  | { ok: true; data: unknown }
  | { ok: false; error: SqlError; status: number }

/** The trace context that SQL sees, as it does any caller's: by the header of the request. */
export type CallTrace = { traceparent: string | null }

/** Calls one SQL function and never throws. */
export type CallFunction = <Name extends FunctionName>(
  name: Name,
  args: FunctionArgs<Name>,
  trace?: CallTrace,
) => Promise<FunctionReply>

export type FunctionsOptions = {
  /** The project's URL, as SUPABASE_URL gives it. */
  url: string
  /** A secret key, or the legacy service role key. */
  key: string
  /** Milliseconds after which a call is given up. */
  timeoutMs?: number
}

/** Calls through `/rest/v1/rpc`, as edge functions do. */
export function connectFunctions(
  { url, key, timeoutMs = 10_000 }: FunctionsOptions,
): CallFunction {
  const client = createClient<Schema, 'outbox'>(url, key, {
    db: { schema: 'outbox' },
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
  })
  // SAFETY: FunctionArgs has checked the pair of name and arguments; the client's own types cannot
  // follow a generic name to its arguments.
  const rpc = client.rpc as unknown as Rpc

  return async function callFunction(name, args, trace): Promise<FunctionReply> {
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), timeoutMs)
    try {
      const request = rpc.call(client, name, args)
      const traceparent = trace?.traceparent ?? null
      if (traceparent !== null) request.setHeader('traceparent', traceparent)
      const { data, error, status } = await request.abortSignal(limit.signal)
      return error === null ? { ok: true, data } : { ok: false, error, status }
    } catch (cause) {
      const error = { code: '', message: messageOf(cause), details: null, hint: null }
      return { ok: false, error, status: 0 }
    } finally {
      clearTimeout(timer)
    }
  }
}

type Rpc = (this: unknown, name: string, args: unknown) => {
  setHeader(name: string, value: string): unknown
  abortSignal(signal: AbortSignal): PromiseLike<{
    data: unknown
    error: SqlError | null
    status: number
  }>
}
