import { systemClock } from '../base/clock.ts'
import { lazySender } from './lazy.ts'
import type { Senders } from './sender.ts'
import { slackSender } from './slack/sender.ts'
import { webhookSender } from './webhook.ts'
import { createWhatsAppSender } from './whatsapp/sender.ts'

/**
 * The senders of this project, by `endpoint.kind`. Broker clients are loaded with the first delivery of
 * their kind, so that other processes do not pay for them.
 */
export const senders: Senders = new Map([
  ['webhook', webhookSender],
  ['whatsapp', createWhatsAppSender(systemClock)],
  ['slack', slackSender],
  [
    'rabbitmq',
    lazySender(async () => (await import('./rabbitmq/sender.ts')).createRabbitMqSender()),
  ],
  ['kafka', lazySender(async () => (await import('./kafka/sender.ts')).createKafkaSender())],
])

/** The senders of this project and `own`, those of other kinds. It throws if a kind has two. */
export function sendersWith(own: Senders): Senders {
  for (const kind of own.keys()) {
    if (senders.has(kind)) {
      throw new Error(`The kind ${kind} has a sender already: use another name for yours`)
    }
  }
  return new Map([...senders, ...own])
}
