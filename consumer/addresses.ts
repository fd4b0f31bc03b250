import { isDecodable } from '../functions/_shared/database/url.ts'

/** Whether a text is the address of a broker of Kafka: `host:port`. */
export function isBroker(text: string): boolean {
  return /^[^\s:/@]+:\d+$/.test(text)
}

/**
 * Whether a text is an address of RabbitMQ: `amqp://…` or `amqps://…`, each part percent-encoded. It may have
 * several hosts, separated by commas.
 */
export function isAmqpUrl(text: string): boolean {
  const urls = amqpUrls(text)
  return urls.length > 0 && urls.every((url) => URL.canParse(url)) && isDecodable(text)
}

/** The URL of each host of such an address, in the same order; none if it is not such an address. */
export function amqpUrls(text: string): string[] {
  // What is before the last @ may contain commas.
  const parts = /^(amqps?:\/\/(?:[^/?#\s]*@)?)([^/?#\s@,]+(?:,[^/?#\s@,]+)*)([/?#].*)?$/
    .exec(text)
  if (parts === null) return []
  const [, login = '', hosts = '', rest = ''] = parts
  return hosts.split(',').map((host) => login + host + rest)
}
