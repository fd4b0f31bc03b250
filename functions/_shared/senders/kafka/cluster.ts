import { Kafka, type KafkaConfig, Partitioners, type Producer } from 'kafkajs'
import type { Socket } from 'node:net'
import type { AddressPolicy } from '../../connect/address.ts'
import { openSocket } from '../../connect/socket.ts'
import type { Outcome } from '../../contract/contract.ts'
import { asError } from '../../base/errors.ts'
import type { BrokerRecord } from '../broker/record.ts'
import './bounds.ts'
import { type Failure, late, refused } from '../broker/outcome.ts'
import { failureOf } from './failure.ts'
import { limitFrames } from './frames.ts'
import type { KafkaTarget } from './target.ts'

export type KafkaCluster = {
  /**
   * Resolves when all in-sync replicas have the record, or with the cluster's error. No request with the record
   * is made after `isLate` returns true.
   */
  produce(
    topic: string,
    key: string | null,
    record: BrokerRecord,
    isLate: () => boolean,
  ): Promise<Outcome>
  close(): Promise<void>
}

const dialMs = 10_000
const requestMs = 15_000

/** Connects to one of the brokers. */
export async function dialKafka(
  target: KafkaTarget,
  policy: AddressPolicy,
): Promise<KafkaCluster | Failure> {
  if ((policy.rules.proxyUrl ?? '') !== '') {
    return refused('no_proxy', 'The Kafka client does not support the egress proxy')
  }
  let socketError: Error | null = null
  const sockets = new Set<Socket>()
  const kafka = new Kafka({
    ...configOf(target),
    socketFactory: (to) => {
      const socket = vettedSocket(to, target, policy, (error) => {
        socketError = error
      })
      sockets.add(socket)
      return socket.once('close', () => sockets.delete(socket))
    },
  })
  const producer = kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    allowAutoTopicCreation: true,
  })
  try {
    await producer.connect()
    return { ...share(producer, () => socketError), close }
  } catch (error) {
    await close()
    return failureOf(error, socketError)
  }

  async function close(): Promise<void> {
    await producer.disconnect().catch(() => {})
    // kafkajs only half-closes its sockets, so they would stay open if the broker does not close.
    for (const socket of sockets) socket.destroy()
  }
}

function configOf({ brokers, tls, sasl, credentials }: KafkaTarget): KafkaConfig {
  return {
    clientId: 'outhook',
    brokers,
    ssl: tls,
    ...sasl !== null && credentials !== null ? { sasl: saslOf(sasl, credentials) } : {},
    connectionTimeout: dialMs,
    authenticationTimeout: dialMs,
    requestTimeout: requestMs,
    // For a partition whose leader has moved; all other retries are the database's.
    retry: { retries: 2, initialRetryTime: 100, maxRetryTime: 1_000 },
    // kafkajs would log internal addresses, in another format.
    logCreator: () => () => {},
  }
}

type Credentials = { username: string; password: string }

function saslOf(
  mechanism: NonNullable<KafkaTarget['sasl']>,
  credentials: Credentials,
): NonNullable<KafkaConfig['sasl']> {
  switch (mechanism) {
    case 'plain':
      return { mechanism, ...credentials }
    case 'scram-sha-256':
      return { mechanism, ...credentials }
    case 'scram-sha-512':
      return { mechanism, ...credentials }
  }
}

type SocketTo = { host: string; port: number; onConnect: () => void }

/** Vets the addresses that brokers announce, like the first one. */
function vettedSocket(
  { host, port, onConnect }: SocketTo,
  { tls, ca }: KafkaTarget,
  policy: AddressPolicy,
  onError: (error: Error) => void,
): Socket {
  try {
    const socket = openSocket({ hostname: host, port, tls, policy, ca: ca ?? undefined })
    socket.once(tls ? 'secureConnect' : 'connect', onConnect)
    socket.on('error', onError)
    return limitFrames(socket)
  } catch (cause) {
    onError(asError(cause))
    throw cause
  }
}

/** Ends kafkajs's repeats of a request. */
class TooLate extends Error {
  readonly retriable = false

  constructor() {
    super('The timeout of the delivery has passed')
    this.name = 'TooLate'
  }
}

/** kafkajs may wrap the error. */
function isTooLate(error: unknown): boolean {
  return error instanceof TooLate || (error instanceof Error && error.cause instanceof TooLate)
}

function share(
  producer: Producer,
  socketError: () => Error | null,
): Pick<KafkaCluster, 'produce'> {
  async function produce(
    topic: string,
    key: string | null,
    { value, headers, timestamp }: BrokerRecord,
    isLate: () => boolean,
  ): Promise<Outcome> {
    const message = {
      key,
      headers,
      timestamp: String(timestamp * 1000),
      // kafkajs reads it when it encodes a request: the first one, perhaps after it has loaded metadata and
      // connected to the leader, and each repeat.
      get value() {
        if (isLate()) throw new TooLate()
        return value
      },
    }
    try {
      await producer.send({ topic, acks: -1, messages: [message] })
      return { outcome: 'delivered' }
    } catch (error) {
      if (isTooLate(error)) return late()
      return failureOf(error, socketError())
    }
  }

  return { produce }
}
