import type { Buffer } from 'node:buffer'

/** One message of any broker. */
export type Message = {
  /** The inbox deduplicates by it: the event's id if Outhook sent the message. */
  id: string
  body: Buffer
  /** The topic or queue. */
  source: string
  eventType: string | null
  correlationId: string
  traceparent: string | null
}

/** The result of handling a message once. */
export type Handled =
  | { kind: 'done' }
  /** A duplicate. */
  | { kind: 'known' }
  | Failure

/** Why something could not be handled. */
export type Failure =
  /** `isFinal`: no further attempt, because it would fail too. */
  | { kind: 'failed'; error: string; isFinal: boolean }
  /** The database cannot be reached: there was no attempt. */
  | { kind: 'unavailable'; error: string }

/** Passes a message to the handler; `attempt` counts from 1. It does not reject. */
export type Handle = (message: Message, attempt: number) => Promise<Handled>

/** A message that is not retried any more. */
export type DeadMessage = { message: Message; error: string; retryCount: number }

/** The result of a message; `stopped`: it has none, and the broker redelivers it. */
export type Processed = 'done' | 'known' | 'dead' | 'stopped'
