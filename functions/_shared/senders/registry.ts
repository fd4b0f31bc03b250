import { systemClock } from '../base/clock.ts'
import { lazySender } from './lazy.ts'
import type { Sender } from './sender.ts'
import { slackSender } from './slack/sender.ts'
import { webhookSender } from './webhook.ts'
import { createWhatsAppSender } from './whatsapp/sender.ts'

/**
 * The senders by `endpoint.kind`. A new kind is one file and one row here. Broker clients are loaded
 * with the first delivery of their kind, so that other processes do not pay for them.
 */
export const senders: ReadonlyMap<string, Sender> = new Map([
  ['webhook', webhookSender],
  ['whatsapp', createWhatsAppSender(systemClock)],
  ['slack', slackSender],
  [
    'rabbitmq',
    lazySender(async () => (await import('./rabbitmq/sender.ts')).createRabbitMqSender()),
  ],
  ['kafka', lazySender(async () => (await import('./kafka/sender.ts')).createKafkaSender())],
])
