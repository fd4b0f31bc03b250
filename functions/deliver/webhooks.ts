/**
 * The edge function `deliver` for webhooks alone. To use it, name it as the entrypoint of `deliver` in
 * supabase/config.toml. Deliveries to endpoints of other kinds wait for a run that can send them.
 */

import { webhookSender } from '../_shared/senders/webhook.ts'
import { serveKinds } from './serve_kinds.ts'

await serveKinds(new Map([['webhook', webhookSender]]))
