import type { Buffer } from 'node:buffer'

/** One message of a broker, whichever it is. */
export type Message = {
  /** What the inbox knows it by: the event's id where Outhook sent it. */
  id: string
  body: Buffer
  /** Where it came from: a topic, or a queue. */
  source: string
  eventType: string | null
  correlationId: string
  traceparent: string | null
}

/** What came of handing a message over once. */
export type Handled =
  | { kind: 'done' }
  /** The consumer has it already. */
  | { kind: 'known' }
  /** `isFinal`: another try would end the same. */
  | { kind: 'failed'; error: string; isFinal: boolean }
  /** The database is not there: nothing was tried. */
  | { kind: 'unavailable'; error: string }

/** Hands a message over once; `attempt` counts from 1. It does not reject. */
export type Handle = (message: Message, attempt: number) => Promise<Handled>

/** A message that is given up. */
export type DeadMessage = { message: Message; error: string; retryCount: number }
