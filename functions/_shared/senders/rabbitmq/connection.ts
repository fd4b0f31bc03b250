import { type ChannelModel, connect } from 'amqplib'
import type { Socket } from 'node:net'
import type { AddressPolicy } from '../../connect/address.ts'
import { vettedOptions } from '../../connect/socket.ts'
import { serverChecks } from '../../runtime/server_checks.ts'
import type { Outcome } from '../../contract/contract.ts'
import { version } from '../../base/version.ts'
import { type Failure, late, refused, unreachable } from '../broker/outcome.ts'
import { mostFrameBytes } from './bounds.ts'
import { type Message, openPublisher, type Publisher } from './publisher.ts'
import { replyOf } from './reply.ts'
import type { RabbitMqTarget } from './target.ts'

/** A connection with one channel for each endpoint that publishes through it. */
export type RabbitMqConnection = {
  /** Publishes, unless `isLate` returns true when the endpoint has a channel. */
  publish(endpointId: string, message: Message, isLate: () => boolean): Promise<Outcome>
  readonly isOpen: boolean
  close(): Promise<void>
}

const dialMs = 10_000
/** How long the broker may take to confirm the end of a connection; less than broker/connections waits for close(). */
const closeMs = 1_500
/** In seconds; after two of them without a response the connection counts as lost. */
const heartbeat = 10

/** Connects to a vetted address. */
export async function dialRabbitMq(
  target: RabbitMqTarget,
  policy: AddressPolicy,
): Promise<RabbitMqConnection | Failure> {
  const { hostname, port, vhost, tls, ca, username, password } = target
  if ((policy.rules.proxyUrl ?? '') !== '') {
    return refused('no_proxy', 'The RabbitMQ client does not support the egress proxy')
  }
  try {
    const model = await connect({
      protocol: tls ? 'amqps' : 'amqp',
      hostname,
      port,
      username,
      password,
      vhost,
      heartbeat,
      maxFrameSize: mostFrameBytes,
    }, {
      ...vettedOptions({ hostname, port, policy }),
      ...ca === null ? {} : { ca },
      ...tls ? serverChecks : {},
      timeout: dialMs,
      noDelay: true,
      keepAlive: true,
      clientProperties: { connection_name: 'outhook', product: 'outhook', version },
    })
    return share(model)
  } catch (error) {
    return refusalOf(error)
  }
}

function refusalOf(error: unknown): Failure {
  const reply = replyOf(error)
  // Its "closed abruptly during opening handshake" means AMQP's handshake, not that of TLS.
  const isCut = error instanceof Error && /^Socket closed|^Unexpected close/.test(error.message)
  if (reply === null) return unreachable(isCut ? cutOff() : error)
  return reply === 'ACCESS_REFUSED'
    ? refused('login_refused', 'RabbitMQ refuses the user name or the password')
    : refused(reply, `RabbitMQ refuses the connection: ${reply}`)
}

function share(model: ChannelModel): RabbitMqConnection {
  const publishers = new Map<string, Promise<Publisher>>()
  const socket = socketOf(model)
  let isOpen = true
  // amqplib ends only its own side, and a broker that does not end the other one would keep the socket for ever.
  model.on('close', () => {
    isOpen = false
    socket.destroy()
  })
  // Messages in flight fail through their channel; an 'error' without a listener would end the process.
  model.on('error', () => isOpen = false)

  async function publisherOf(endpointId: string): Promise<Publisher> {
    const known = publishers.get(endpointId)
    const publisher = await known
    if (publisher?.isOpen === true) return publisher
    // Another delivery may have opened a channel meanwhile.
    const current = publishers.get(endpointId)
    if (current !== undefined && current !== known) return await current
    const opening = openPublisher(model)
    publishers.set(endpointId, opening)
    return await opening
  }

  async function publish(
    endpointId: string,
    message: Message,
    isLate: () => boolean,
  ): Promise<Outcome> {
    try {
      const publisher = await publisherOf(endpointId)
      return isLate() ? late() : await publisher.publish(message)
    } catch (error) {
      publishers.delete(endpointId)
      return isOpen ? refusalOf(error) : unreachable(cutOff())
    }
  }

  async function close(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const timeout = new Promise<void>((resolve) => timer = setTimeout(resolve, closeMs))
    // close() rejects if the connection is closed already.
    await Promise.race([model.close().catch(() => {}), timeout])
    clearTimeout(timer)
    // With an error, because amqplib keeps the timers of its heartbeats after a socket that closes without one.
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.destroy(cutOff())
    if (!socket.closed) await closed
  }

  return {
    publish,
    get isOpen() {
      return isOpen
    },
    close,
  }
}

function socketOf(model: ChannelModel): Socket {
  // SAFETY: the version of amqplib is pinned, and tests/functions/_shared/senders/rabbitmq use this member.
  return (model.connection as unknown as { stream: Socket }).stream
}

function cutOff(): Error {
  return Object.assign(new Error(), { code: 'ECONNRESET' })
}
