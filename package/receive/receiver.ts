import type { ReceiverResponse } from './response.ts'
import { RawBodyError, WebhookError } from './errors.ts'
import { type PayloadForm, readEvent, type WebhookEvent } from './event.ts'
import { fetchHandler } from './fetch_handler.ts'
import { headerReader, type HeadersIn } from './headers.ts'
import { parseKey, type VerifyKey } from './keys.ts'
import { type NodeHandler, nodeHandler } from './node_handler.ts'
import { quietly, refusalReport, reportError } from './report.ts'
import { type SignatureForm, verifyRequest } from './verify.ts'

/**
 * Stores which events are processed. `once` runs `work` unless `id` is stored, and stores `id` in the
 * same transaction: if `work` fails, nothing is stored. It passes `work` what it needs to take part
 * in the transaction. It returns false for an id that was stored before.
 */
export interface OnceStore<Context> {
  once(id: string, work: (context: Context) => Promise<void>): Promise<boolean>
}

/** One secret or public key, or several. */
export type Secrets = string | readonly string[]

/** How webhooks are received. `Context` is what the store passes to `handle`. */
export interface ReceiverOptions<Event extends WebhookEvent, Context> {
  /**
   * The secret (`whsec_…`) or public key (`whpk_…`); several during a rotation. A function is called at
   * the first request, so that a build without secrets can load the module.
   */
  secrets: Secrets | (() => Secrets | undefined)
  /** Processes one event. If it throws, the response is 500, and Outhook retries. */
  handle(event: Event, context: Context): Promise<void> | void
  /** Without a store, `handle` also gets repeats. */
  store?: OnceStore<Context>
  /** What the endpoint sends; `envelope` by default. */
  payload?: PayloadForm
  /** Which signature is needed; `standard` by default. */
  signature?: SignatureForm
  /** How old or how far ahead a request may be; 300 by default. */
  toleranceSeconds?: number
  /** A longer body is refused with 413; 2 MiB by default. */
  mostBytes?: number
  /** Gets each error of `handle` or of the store; by default it is written to standard error. */
  onError?(error: unknown, event: WebhookEvent | null): void
  /**
   * Gets why a request was refused, such as a wrong secret; by default one line a minute is written to
   * standard error.
   */
  onRefused?(error: WebhookError): void
  /** Unix milliseconds; `Date.now` by default. */
  now?(): number
}

/** Receives the webhooks of one endpoint. */
export interface Receiver<Event extends WebhookEvent> {
  /** For servers with Request and Response: Deno, Bun, Hono, Next.js route handlers, Supabase. */
  fetch(request: Request): Promise<Response>
  /** For the server of Node.js and for Express. */
  node: NodeHandler
  /** For any other server: the response to the raw body of a POST. */
  receive(headers: HeadersIn, body: Uint8Array): Promise<ReceiverResponse>
  /** Verifies and parses without processing; throws a WebhookError. */
  verify(headers: HeadersIn, body: Uint8Array): Event
}

/** Creates a receiver. Throws an Error if a secret that is no function cannot verify anything. */
export function createReceiver<Event extends WebhookEvent = WebhookEvent, Context = undefined>(
  options: ReceiverOptions<Event, Context>,
): Receiver<Event> {
  const { secrets, store, payload = 'envelope', signature = 'standard' } = options
  const { toleranceSeconds = 300, mostBytes = 2 * 1024 * 1024, now = Date.now } = options
  if (payload === 'data' && signature !== 'standard') {
    throw new Error("payload 'data' needs signature 'standard': X-Signature does not cover the id")
  }
  const keys = keysOf(secrets, signature)
  const { onError = reportError, onRefused = refusalReport(now) } = options

  function verify(headers: HeadersIn, body: Uint8Array): Event {
    const read = headerReader(headers)
    const signed = verifyRequest(read, body, {
      keys: keys(),
      form: signature,
      toleranceSeconds,
      now: now(),
    })
    // SAFETY: the signature proves that Outhook sent it; which data a type has, the caller knows.
    return readEvent(read, body, signed, payload) as Event
  }

  async function handle(event: Event): Promise<void> {
    if (store !== undefined) {
      await store.once(event.id, async (context) => void await options.handle(event, context))
      return
    }
    // SAFETY: without a store, nothing gives Context another type than undefined.
    await options.handle(event, undefined as Context)
  }

  async function receive(headers: HeadersIn, body: Uint8Array): Promise<ReceiverResponse> {
    let event: Event
    try {
      event = verify(headers, body)
    } catch (error) {
      if (!(error instanceof WebhookError)) return failure(error, null)
      quietly(() => onRefused(error))
      return refusal(error)
    }
    try {
      await handle(event)
      return { status: 204, detail: null }
    } catch (error) {
      return failure(error, event)
    }
  }

  function failure(error: unknown, event: WebhookEvent | null): ReceiverResponse {
    quietly(() => onError(error, event))
    // Outhook stores the response, so that the operator of the sender reads the remedy too.
    const detail = error instanceof RawBodyError
      ? error.message
      : 'The event was not processed: see the log of the receiver'
    return { status: 500, detail }
  }

  const parts = { receive, failure, mostBytes }
  return { receive, verify, fetch: fetchHandler(parts), node: nodeHandler(parts) }
}

/** The prepared keys of `secrets`; those of a function are read when they are first needed. */
function keysOf(
  secrets: Secrets | (() => Secrets | undefined),
  signature: SignatureForm,
): () => VerifyKey[] {
  function prepare(given: Secrets | undefined): VerifyKey[] {
    if (given === undefined) throw new Error('There are no secrets: is the variable set?')
    const keys = [given].flat().map(parseKey)
    if (keys.length === 0) throw new Error('A receiver needs at least one secret')
    if (signature === 'simple' && keys.every(({ scheme }) => scheme !== 'v1')) {
      throw new Error('X-Signature needs a whsec_ secret: a public key cannot verify it')
    }
    return keys
  }
  let keys: VerifyKey[] | undefined
  if (typeof secrets !== 'function') keys = prepare(secrets)
  return () => keys ??= prepare(typeof secrets === 'function' ? secrets() : secrets)
}

/**
 * 401 for what is not signed by Outhook; 400 for a signed body that no retry can change. 503 for a clock
 * that is wrong, because a retry is signed anew, and the clock may be corrected by then.
 */
function refusal({ code, message }: WebhookError): ReceiverResponse {
  if (code === 'invalid_body') return { status: 400, detail: message }
  return { status: code === 'too_old' || code === 'too_new' ? 503 : 401, detail: message }
}
