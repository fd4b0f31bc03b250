import { createClient } from '@supabase/supabase-js'
import { introduce } from '../contract/introduction.ts'
import { type ContractRange, contractRange, missingDispatch } from '../contract/range.ts'
import type { DispatchCall } from '../contract/contract.ts'
import {
  callTimeoutMs,
  type Database,
  type DispatchReply,
  readResponse,
  refused,
} from './dispatch.ts'
import { messageOf } from '../base/errors.ts'
import { kindOfResponse } from './fault.ts'

export type RpcOptions = {
  /** The project's URL (SUPABASE_URL). */
  url: string
  /** A secret key, or the legacy service role key: no other role may call dispatch. */
  key: string
  timeoutMs?: number
  /** The contracts that these functions support. */
  speaks?: ContractRange
  /** The name or the URL of the run's project; null: it names none. */
  project?: string | null
}

/** Calls the database through `/rest/v1/rpc`, as edge functions do. */
export function connectRpc(
  { url, key, timeoutMs = callTimeoutMs, speaks = contractRange, project = null }: RpcOptions,
): Database {
  const client = createClient(url, key, {
    db: { schema: 'outbox' },
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
  })

  // A URL may contain credentials; its origin does not.
  const { origin } = new URL(url)

  async function dispatch(call: DispatchCall): Promise<DispatchReply> {
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), timeoutMs)
    try {
      const { data, error, status } = await client.rpc('dispatch', {
        p_run: call.run,
        p_seq: call.seq,
        p_results: call.results,
        p_limit: call.limit,
        p_kind: call.kind,
        p_ended: call.ended,
        p_known: call.known,
        p_contract: introduce(speaks, project, call),
        p_held: call.held,
      }).abortSignal(limit.signal)
      if (error === null) return readResponse(data)
      // PostgREST finds no function with this name and these arguments.
      if (error.code === 'PGRST202') return refused(missingDispatch(), error.code, error)
      return {
        ok: false,
        fault: {
          kind: kindOfResponse(status, error.code ?? ''),
          code: error.code ?? '',
          message:
            `Cannot call outbox.dispatch at ${origin}: ${status} ${error.code} ${error.message}`,
          cause: error,
        },
      }
    } catch (cause) {
      const message = `Cannot call outbox.dispatch at ${origin}: ${messageOf(cause)}`
      return { ok: false, fault: { kind: 'temporary', code: '', message, cause } }
    } finally {
      clearTimeout(timer)
    }
  }

  return { dispatch, close: () => Promise.resolve() }
}
