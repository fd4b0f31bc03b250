import { createClient } from '@supabase/supabase-js'
import { type MissingModule, notInstalled } from '../_shared/database/modules.ts'

/**
 * Passes one event to the SQL function that handles it; resolves with false for a duplicate. It
 * rejects if the function fails, and then nothing is stored.
 */
export type Receive = (eventId: string, body: string) => Promise<boolean>

/** The error if the database has no `outbox.accept_once`, which receive_event calls. */
export class InboxMissing extends Error {
  override name = 'InboxMissing'

  constructor(readonly missing: MissingModule) {
    super(`${missing.problem}: ${missing.remedy}`)
  }
}

const inbox = notInstalled('accept_once')

type Schema = {
  public: {
    Tables: Record<never, never>
    Views: Record<never, never>
    Functions: {
      receive_event: { Args: { p_event_id: string; p_body: string }; Returns: boolean }
    }
  }
}

/** Calls `public.receive_event` (handler.sql) through `/rest/v1/rpc`. */
export function connectReceive({ url, key }: { url: string; key: string }): Receive {
  const client = createClient<Schema>(url, key, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
  })
  return async function receive(eventId, body): Promise<boolean> {
    const { data, error } = await client.rpc('receive_event', { p_event_id: eventId, p_body: body })
    if (error?.code === '42883' && error.message.includes('outbox.accept_once') && inbox !== null) {
      throw new InboxMissing(inbox)
    }
    if (error !== null) throw new Error(`${error.code} ${error.message}`)
    return data
  }
}
