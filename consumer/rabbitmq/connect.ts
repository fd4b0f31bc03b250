import { type ChannelModel, connect } from 'amqplib'
import { asError, messageOf } from '../../functions/_shared/base/errors.ts'
import { amqpUrls } from '../addresses.ts'

/** A RabbitMQ broker and its credentials. */
export type RabbitMqAccess = {
  /**
   * `amqp://` or `amqps://`, with credentials and virtual host percent-encoded. It may have several hosts,
   * separated by commas: the nodes of a cluster.
   */
  url: string
  /** Certificates (PEM) to trust instead of the default roots; null: the default ones. */
  ca: string | null
}

const heartbeatS = 10
const connectMs = 10_000

/**
 * Opens a connection to one of the hosts. It tries them in random order, so that many connections are spread
 * over the nodes of a cluster. An error closes the connection, which emits `close`.
 */
export async function connectRabbitMq(
  { url, ca }: RabbitMqAccess,
  random: () => number = Math.random,
): Promise<ChannelModel> {
  const failures: Failure[] = []
  for (const one of inRandomOrder(amqpUrls(url), random)) {
    try {
      return await dial(one, ca)
    } catch (error) {
      failures.push({ host: new URL(one).host, error })
    }
  }
  throw failureOf(failures)
}

type Failure = { host: string; error: unknown }

/** The error of the only host, or else one that tells those of all hosts; without user and password. */
export function failureOf(failures: readonly Failure[]): Error {
  const [first, second] = failures
  if (first !== undefined && second === undefined) return asError(first.error)
  const texts = failures.map(({ host, error }) => `${host}: ${textOf(error)}`)
  return new AggregateError(
    failures.map(({ error }) => error),
    `Cannot connect to any host: ${texts.join('; ')}`,
  )
}

/** The error of a host with several addresses has only a code. */
function textOf(error: unknown): string {
  const text = messageOf(error)
  return text === '' && error instanceof Error && 'code' in error ? `${error.code}` : text
}

async function dial(url: string, ca: string | null): Promise<ChannelModel> {
  const { protocol, hostname, port, username, password, pathname } = new URL(url)
  const isTls = protocol === 'amqps:'
  const connection = await connect({
    protocol: isTls ? 'amqps' : 'amqp',
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port) || (isTls ? 5671 : 5672),
    // amqplib does not decode UTF-8 in a URL.
    username: decodeURIComponent(username) || 'guest',
    password: decodeURIComponent(password) || 'guest',
    // amqplib decodes the virtual host.
    vhost: pathname.length > 1 ? pathname.slice(1) : '/',
    heartbeat: heartbeatS,
  }, { timeout: connectMs, ...ca === null ? {} : { ca: [ca] } })
  connection.on('error', () => {})
  return connection
}

function inRandomOrder(urls: readonly string[], random: () => number): string[] {
  return urls.map((url) => ({ url, place: random() }))
    .toSorted((left, right) => left.place - right.place)
    .map(({ url }) => url)
}
