import type { Buffer } from 'node:buffer'
import type { ProcessDeps } from '../../../consumer/process.ts'
import type { Replayed } from '../../../consumer/replayed.ts'

/** A message as a test sends and reads it. */
export type BusMessage = {
  id: string
  key: string
  text: string
  /** Further headers. */
  headers?: Record<string, string>
}

/** What lies in a topic or queue. */
export type Found = {
  text: string
  key: string | null
  id: string | null
  headers: Record<string, unknown>
}

export type InProcess = {
  from: string
  concurrency: number
  deps: Omit<ProcessDeps, 'publishDead'>
  stop: AbortSignal
}

/** A broker of the test's own, Kafka or RabbitMQ, behind one face. */
export interface Bus extends AsyncDisposable {
  readonly name: 'Kafka' | 'RabbitMQ'
  /** What the consumer's process is told: where the broker is, and the flag that names a source. */
  readonly env: Record<string, string>
  readonly flag: '--topic' | '--queue'
  /** Makes a topic or queue. */
  create(name: string): Promise<void>
  send(to: string, messages: readonly BusMessage[]): Promise<void>
  sendBytes(to: string, id: string, body: Buffer): Promise<void>
  /** What lies there, in order, without taking it away; waits until there are `count`. */
  read(name: string, count: number): Promise<Found[]>
  /** Consumes in this process until `stop`; dead letters go to `<from>.dlq`. */
  consume(options: InProcess): Promise<void>
  replay(dlq: string, limit?: number): Promise<Replayed>
  /** Stops the broker and starts it again, with what it had. */
  restart(): Promise<void>
}

/** The headers by which Outhook's own senders tell an event. */
export function headersOf(
  { id, headers }: Pick<BusMessage, 'id' | 'headers'>,
): Record<string, string> {
  return {
    'webhook-id': id,
    'x-event-type': 'order.paid',
    'x-correlation-id': `c-${id}`,
    ...headers,
  }
}
