import * as z from 'zod'
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

/**
 * Calls the database through `/rest/v1/rpc`, as edge functions do. Only one function is called, so it needs no
 * client library: supabase-js would be more than half of the edge function.
 */
export function connectRpc(
  { url, key, timeoutMs = callTimeoutMs, speaks = contractRange, project = null }: RpcOptions,
): Database {
  const address = new URL('rest/v1/rpc/dispatch', url.endsWith('/') ? url : `${url}/`)
  // The key is sent, and an error would show these.
  address.username = address.password = ''
  const { origin } = address
  const headers = {
    apikey: key,
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-profile': 'outbox',
  }

  async function dispatch(call: DispatchCall): Promise<DispatchReply> {
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), timeoutMs)
    try {
      const body = JSON.stringify({
        p_run: call.run,
        p_seq: call.seq,
        p_results: call.results,
        p_limit: call.limit,
        p_kind: call.kind,
        p_ended: call.ended,
        p_known: call.known,
        p_contract: introduce(speaks, project, call),
        p_held: call.held,
      })
      const { signal } = limit
      // Another origin would get the key.
      const redirect = 'error'
      const response = await fetch(address, { method: 'POST', headers, body, redirect, signal })
      const value = readJson(await response.text())
      if (response.ok && value !== undefined) return readResponse(value)
      if (response.ok) return unreadable(origin, response.status)
      return faultOf(origin, response.status, value)
    } catch (cause) {
      const message = `Cannot call outbox.dispatch at ${origin}: ${messageOf(cause)}`
      return { ok: false, fault: { kind: 'temporary', code: '', message, cause } }
    } finally {
      clearTimeout(timer)
    }
  }

  return { dispatch, close: () => Promise.resolve() }
}

/** An error of PostgREST. A gateway before it may respond with something else. */
const restError = z.object({ code: z.string().nullish(), message: z.string() })

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The call may have been committed, so it is repeated unchanged, not divided. */
function unreadable(origin: string, status: number): DispatchReply {
  const message =
    `Cannot call outbox.dispatch at ${origin}: ${status}, but the response is not JSON`
  return { ok: false, fault: { kind: 'temporary', code: '', message, cause: undefined } }
}

function faultOf(origin: string, status: number, value: unknown): DispatchReply {
  const { data: error } = restError.safeParse(value)
  const code = error?.code ?? ''
  const message = error?.message ?? 'the response is not one of PostgREST'
  // PostgREST finds no function with this name and these arguments.
  if (code === 'PGRST202') return refused(missingDispatch(), code, error)
  return {
    ok: false,
    fault: {
      kind: kindOfResponse(status, { code, message }),
      code,
      message: `Cannot call outbox.dispatch at ${origin}: ${status} ${code} ${message}`,
      cause: error,
    },
  }
}
