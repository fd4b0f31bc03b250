import { type ChannelModel, connect } from 'amqplib'

/** Where a RabbitMQ is, and as whom it is asked. */
export type RabbitMqAccess = {
  /** `amqp://` or `amqps://`, with credentials and virtual host percent-encoded. */
  url: string
  /** Certificates (PEM) that are trusted instead of the usual roots; null: the usual ones. */
  ca: string | null
}

const heartbeatS = 10
const connectMs = 10_000

/** Opens a connection. Its errors end it, and are told by its `close`. */
export async function connectRabbitMq({ url, ca }: RabbitMqAccess): Promise<ChannelModel> {
  const { protocol, hostname, port, username, password, pathname } = new URL(url)
  const isTls = protocol === 'amqps:'
  const connection = await connect({
    protocol: isTls ? 'amqps' : 'amqp',
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port) || (isTls ? 5671 : 5672),
    // amqplib reads no UTF-8 in a URL, but in these.
    username: decodeURIComponent(username) || 'guest',
    password: decodeURIComponent(password) || 'guest',
    // It decodes the virtual host even here.
    vhost: pathname.length > 1 ? pathname.slice(1) : '/',
    heartbeat: heartbeatS,
  }, { timeout: connectMs, ...ca === null ? {} : { ca: [ca] } })
  connection.on('error', () => {})
  return connection
}
