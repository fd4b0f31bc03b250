import type { Sender } from './sender.ts'
import { slackSender } from './slack/sender.ts'
import { webhookSender } from './webhook.ts'
import { whatsappSender } from './whatsapp/sender.ts'

/** The senders by `endpoint.kind`: a new kind is one file and one row here. */
export const senders: ReadonlyMap<string, Sender> = new Map([
  ['webhook', webhookSender],
  ['whatsapp', whatsappSender],
  ['slack', slackSender],
])
