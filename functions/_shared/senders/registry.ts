import type { Sender } from './sender.ts'
import { webhookSender } from './webhook.ts'

/** The senders by `endpoint.kind`: a new kind is one file and one row here. */
export const senders: ReadonlyMap<string, Sender> = new Map([
  ['webhook', webhookSender],
])
