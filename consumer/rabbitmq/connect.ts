import { type ChannelModel, connect } from 'amqplib'
import { messageOf } from '../../functions/_shared/base/errors.ts'
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
      failures.push({ host: hostOf(new URL(one)), error })
    }
  }
  throw failureOf(failures)
}

type Failure = { host: string; error: unknown }

/**
 * An error that names each host and why it failed, but no user and password. If the network failed, it says what
 * to check, and has the code of the first host.
 */
export function failureOf(failures: readonly Failure[]): Error {
  const codes = failures.map(({ error }) => codeOf(error))
  const texts = failures.map(({ host, error }) => `${host}: ${messageOf(error)}`)
  const where = failures.length === 1 ? 'RabbitMQ at ' : 'any host: '
  const advice = codes.includes(null)
    ? ''
    : '. Check the name of the host and its port, that RabbitMQ runs there, and the firewall'
  const error = new AggregateError(
    failures.map(({ error }) => error),
    `Cannot connect to ${where}${texts.join('; ')}${advice}`,
  )
  return codes[0] === null ? error : Object.assign(error, { code: codes[0] })
}

/** The code of a failure of the network, such as ECONNREFUSED; null: the host was reached. */
function codeOf(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : null
  return typeof code === 'string' && /^E(?!RR_)[A-Z_]+$/.test(code) ? code : null
}

async function dial(url: string, ca: string | null): Promise<ChannelModel> {
  const address = new URL(url)
  const { hostname, username, password, pathname } = address
  const isTls = address.protocol === 'amqps:'
  const connection = await connect({
    protocol: isTls ? 'amqps' : 'amqp',
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: portOf(address),
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

function portOf({ protocol, port }: URL): number {
  return Number(port) || (protocol === 'amqps:' ? 5671 : 5672)
}

function hostOf(address: URL): string {
  return `${address.hostname}:${portOf(address)}`
}

function inRandomOrder(urls: readonly string[], random: () => number): string[] {
  return urls.map((url) => ({ url, place: random() }))
    .toSorted((left, right) => left.place - right.place)
    .map(({ url }) => url)
}
