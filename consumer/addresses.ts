import { isDecodable } from '../functions/_shared/database/url.ts'

/** Whether a text is the address of a broker of Kafka: `host:port`. */
export function isBroker(text: string): boolean {
  return /^[^\s:/@]+:\d+$/.test(text)
}

/** Whether a text is an address of RabbitMQ: `amqp://…` or `amqps://…`, each part percent-encoded. */
export function isAmqpUrl(text: string): boolean {
  return /^amqps?:\/\/[^/?#\s]+/.test(text) && URL.canParse(text) && isDecodable(text)
}
