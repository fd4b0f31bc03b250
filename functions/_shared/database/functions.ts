import { createClient } from '@supabase/supabase-js'
import type { Database as Schema } from './database.types.ts'
import { messageOf } from '../base/errors.ts'

type Functions = Schema['outbox']['Functions']

/** The names of SQL functions, and their arguments. */
export type FunctionName = keyof Functions & string
export type FunctionArgs<Name extends FunctionName> = Functions[Name]['Args']

/** An error of PostgREST. */
export type SqlError = {
  code: string
  message: string
  details: string | null
  hint: string | null
}

/** The result of a call; `status` is the HTTP status, 0 without a response. */
export type FunctionReply =
  | { ok: true; data: unknown }
  | { ok: false; error: SqlError; status: number }

/** What SQL gets beside the arguments, sent as request headers. */
export type CallTrace = {
  traceparent?: string | null
  /** Who calls, for the audit trail. */
  actor?: string
}

/** Calls one SQL function and never rejects. */
export type CallFunction = <Name extends FunctionName>(
  name: Name,
  args: FunctionArgs<Name>,
  trace?: CallTrace,
) => Promise<FunctionReply>

export type FunctionsOptions = {
  /** The project's URL (SUPABASE_URL). */
  url: string
  /** A secret key, or the legacy service role key. */
  key: string
  /** Milliseconds until a call times out. */
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
  // SAFETY: FunctionArgs checks each name with its arguments; the client's own types cannot connect a
  // generic name with its arguments.
  const rpc = client.rpc as unknown as Rpc

  return async function callFunction(name, args, trace): Promise<FunctionReply> {
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), timeoutMs)
    try {
      const request = rpc.call(client, name, args)
      const traceparent = trace?.traceparent ?? null
      if (traceparent !== null) request.setHeader('traceparent', traceparent)
      if (trace?.actor !== undefined) request.setHeader('x-outhook-actor', encodeActor(trace.actor))
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

/** A header has ASCII only, and `outbox.current_actor` reads it from JSON without unescaping. */
function encodeActor(actor: string): string {
  return encodeURI(actor.slice(0, 200).toWellFormed())
}

type Rpc = (this: unknown, name: string, args: unknown) => {
  setHeader(name: string, value: string): unknown
  abortSignal(signal: AbortSignal): PromiseLike<{
    data: unknown
    error: SqlError | null
    status: number
  }>
}
