import { sendersWith } from '../_shared/senders/registry.ts'
import type { Senders } from '../_shared/senders/sender.ts'
import { serveKinds } from './serve_kinds.ts'

/**
 * Serves the edge function `deliver` for all kinds of this project. `own` has the senders of kinds that this
 * project does not have. To add one, write an entrypoint that calls this function, and name it in
 * supabase/config.toml.
 */
export async function serveRuns(own: Senders = new Map()): Promise<void> {
  await serveKinds(sendersWith(own))
}
