import Broker from 'kafkajs/src/broker/index.js'
import { SCRAM } from 'kafkajs/src/broker/saslAuthenticator/scram.js'
import Decoder from 'kafkajs/src/protocol/decoder.js'
import { BadResponse } from './frames.ts'

/** Kafka's own limit is 16,384. All threads that derive keys also look up names. */
const mostIterations = 100_000
/** kafkajs copies its table of brokers once for each new broker. */
const mostBrokers = 1_000

/** The reader of kafkajs for one response. */
type Reader = { buffer: Uint8Array; offset: number; readInt32(): number }

/**
 * Bounds the work of kafkajs for a response by the length of the response. Without it, 30 bytes can stand for
 * an array of two billion elements, because a text with a negative length moves the reader back; and a login
 * by SCRAM can take as many iterations as the broker asks for.
 */
function boundKafkajs(): void {
  const { readString, readBytes } = Decoder.prototype
  Decoder.prototype.readString = function (this: Reader): unknown {
    return forwards(this, 2, () => readString.call(this))
  }
  Decoder.prototype.readBytes = function (this: Reader, ...length: number[]): unknown {
    return forwards(this, length.length === 0 ? 4 : 0, () => readBytes.apply(this, length))
  }
  Decoder.prototype.readArray = readArray
  const { hi } = SCRAM
  SCRAM.hi = (password: string, salt: unknown, iterations: number, digest: unknown): unknown => {
    if (iterations <= mostIterations) return hi(password, salt, iterations, digest)
    throw new BadResponse('The broker asks for too many iterations of its login')
  }
  const { metadata } = Broker.prototype
  Broker.prototype.metadata = async function (...topics: unknown[]): Promise<unknown> {
    const found = await metadata.apply(this, topics)
    if (found.brokers.length <= mostBrokers) return found
    throw new BadResponse('The cluster has too many brokers')
  }
}

/** Reads, and refuses if that takes fewer bytes than the length before a text or bytes has. */
function forwards<T>(reader: Reader, least: number, read: () => T): T {
  const { offset } = reader
  const value = read()
  if (reader.offset - offset >= least) return value
  throw badLength()
}

/** As in kafkajs, but an element takes at least one byte. */
function readArray<T>(this: Reader, readItem: (reader: Reader) => T): T[] {
  const length = this.readInt32()
  if (length < -1 || length > this.buffer.length - this.offset) throw badLength()
  const items: T[] = []
  for (let at = 0; at < length; at++) items.push(readItem(this))
  return items
}

function badLength(): BadResponse {
  return new BadResponse('A length in a response of the broker is negative or beyond its end')
}

boundKafkajs()
