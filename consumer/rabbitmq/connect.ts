import { type ChannelModel, connect } from 'amqplib'

/** A RabbitMQ broker and its credentials. */
export type RabbitMqAccess = {
  /** `amqp://` or `amqps://`, with credentials and virtual host percent-encoded. */
  url: string
  /** Certificates (PEM) to trust instead of the default roots; null: the default ones. */
  ca: string | null
}

const heartbeatS = 10
const connectMs = 10_000

/** Opens a connection. An error closes it, which emits `close`. */
export async function connectRabbitMq({ url, ca }: RabbitMqAccess): Promise<ChannelModel> {
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
