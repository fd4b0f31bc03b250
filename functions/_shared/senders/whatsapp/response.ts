import * as z from 'zod'
import type { ErrorClass, Outcome } from '../../contract/contract.ts'
import { safeString, safeText } from '../../base/safe_text.ts'
import { type Exchange, isSuccess } from '../../transport/transport.ts'
import { checkRoom } from '../no_room.ts'
import { readUsage } from './usage.ts'

/** Meta's facts besides its error code. */
type MetaFacts = {
  title?: string
  details?: string
  subcode?: number
  is_transient?: boolean
  fbtrace_id?: string
  message_status?: string
  wa_id?: string
  /** The recipient's user id at WhatsApp; without wa_id if the recipient hides the number. */
  user_id?: string
  /** The usage headers, as received. */
  usage?: Record<string, unknown>
}

type ResponseFacts = Extract<Exchange, { kind: 'response' }>
type FaultFacts = Extract<Exchange, { kind: 'fault' }>

const taken = z.object({
  messages: z.tuple([z.object({ id: z.string().min(1), message_status: maybe(z.string()) })])
    .rest(z.unknown()),
  contacts: maybe(
    z.tuple([z.object({ wa_id: maybe(z.string()), user_id: maybe(z.string()) })]).rest(z.unknown()),
  ),
})

const refused = z.object({
  error: z.object({
    code: z.int(),
    message: maybe(z.string()),
    error_subcode: maybe(z.int()),
    is_transient: maybe(z.boolean()),
    error_user_title: maybe(z.string()),
    /** Older versions have only a text. */
    error_data: maybe(z.union([z.string(), z.object({ details: maybe(z.string()) })])),
    fbtrace_id: maybe(z.string()),
  }),
})

type GraphError = z.infer<typeof refused>['error']

/**
 * The outcome of a Graph API call. Meta's error code decides what a failure means, not the HTTP status.
 * The body is not stored, because it contains the recipient's number.
 */
export function outcomeOf(exchange: Exchange): Outcome {
  checkRoom(exchange)
  if (exchange.kind === 'fault') return faulted(exchange)
  const { status } = exchange
  const json = jsonOf(exchange)
  const read = refused.safeParse(json)
  if (read.success) return refusal(exchange, read.data.error)
  // Meta has accepted each message of a 200 response, even without a readable id: a status callback has it.
  if (isSuccess(status)) return success(exchange, json)
  const isRedirect = status >= 300 && status < 400
  const what = isRedirect ? 'redirects, and redirects are not followed' : 'gave no reason'
  const words = `The Graph API responded with ${status} and ${what}`
  return withWait(failed(isRedirect ? 'redirect' : 'status', words, { status }), exchange)
}

/** A failure; `error` is safe for the organisation. */
export function failed(
  errorClass: ErrorClass,
  error: string,
  more: { status?: number; code?: string; provider?: MetaFacts } = {},
): Outcome & { outcome: 'failed' } {
  return { outcome: 'failed', error_class: errorClass, error: safeString(error, 500), ...more }
}

/**
 * The classes `timeout` and `reset` mean an unknown outcome, whose retry waits ten minutes. If nothing was
 * sent, the outcome is known.
 */
function faulted({ errorClass, message, unsent }: FaultFacts): Outcome {
  const isUnknown = errorClass === 'timeout' || errorClass === 'reset'
  if (unsent !== true || !isUnknown) return failed(errorClass, message)
  return failed('connect', 'No connection to the Graph API was opened in time: nothing was sent')
}

function success({ status, headers = {} }: ResponseFacts, json: unknown): Outcome {
  const { usage } = readUsage(headers)
  const read = taken.safeParse(json)
  const provider: MetaFacts = usage === null ? {} : { usage }
  if (!read.success) return { outcome: 'delivered', status, provider }
  const { messages: [message], contacts } = read.data
  put(provider, 'message_status', message.message_status)
  put(provider, 'wa_id', contacts?.[0].wa_id)
  put(provider, 'user_id', contacts?.[0].user_id)
  return { outcome: 'delivered', status, provider_id: safeString(message.id, 1024), provider }
}

function refusal(response: ResponseFacts, error: GraphError): Outcome {
  const { code, message, error_data, error_subcode, is_transient, fbtrace_id } = error
  const provider: MetaFacts = {}
  const details = typeof error_data === 'string' ? error_data : error_data?.details
  put(provider, 'title', error.error_user_title ?? message)
  put(provider, 'details', details)
  put(provider, 'fbtrace_id', fbtrace_id)
  if (error_subcode !== undefined) provider.subcode = error_subcode
  if (is_transient !== undefined) provider.is_transient = is_transient
  const words = withoutNumbers(details ?? message ?? 'it gives no reason')
  const outcome = failed('status', `WhatsApp refuses with error ${code}: ${words}`, {
    status: response.status,
    code: String(code),
    provider,
  })
  return withWait(outcome, response)
}

/** Uses the longer one of Retry-After and the usage headers' wait. */
function withWait(
  outcome: Outcome & { outcome: 'failed' },
  { retryAfter, headers = {} }: ResponseFacts,
): Outcome {
  const { usage, waitS } = readUsage(headers)
  if (usage !== null) outcome.provider = { ...outcome.provider, usage }
  const isLonger = waitS > 0 && !(Number(retryAfter ?? 0) >= waitS)
  const wait = isLonger ? String(waitS) : retryAfter
  return wait === null ? outcome : { ...outcome, retry_after: safeString(wait, 64) }
}

function jsonOf({ body, cut }: ResponseFacts): unknown {
  try {
    return JSON.parse(safeText(body, { cut }).text)
  } catch {
    return null
  }
}

/** Stores a text if there is one. */
function put(
  facts: MetaFacts,
  name: 'title' | 'details' | 'fbtrace_id' | 'message_status' | 'wa_id' | 'user_id',
  value: string | undefined,
): void {
  if (value !== undefined && value !== '') facts[name] = safeString(value, 1000)
}

/** Seven or more digits, with separators between them, may be a phone number. */
function withoutNumbers(text: string): string {
  return text.replace(/\+?\d(?:[ ().-]*\d){6,}/g, '…')
}

/** A member that may be absent or have another type, without making the response invalid. */
function maybe<T extends z.ZodType>(schema: T): z.ZodCatch<z.ZodOptional<T>> {
  return schema.optional().catch(undefined)
}
