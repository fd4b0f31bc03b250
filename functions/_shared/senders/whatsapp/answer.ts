import { z } from 'zod'
import type { ErrorClass, Outcome } from '../../contract/contract.ts'
import { safeString, safeText } from '../../base/safe_text.ts'
import { type Exchange, isSuccess } from '../../transport/transport.ts'
import { readUsage } from './usage.ts'

/** What Meta says beside its code. */
type MetaFacts = {
  title?: string
  details?: string
  subcode?: number
  is_transient?: boolean
  fbtrace_id?: string
  message_status?: string
  wa_id?: string
  /** The usage headers, as received. */
  usage?: Record<string, unknown>
}

type Answer = Extract<Exchange, { kind: 'answer' }>

const taken = z.object({
  messages: z.tuple([z.object({ id: z.string().min(1), message_status: maybe(z.string()) })])
    .rest(z.unknown()),
  contacts: maybe(z.tuple([z.object({ wa_id: maybe(z.string()) })]).rest(z.unknown())),
})

const refused = z.object({
  error: z.object({
    code: z.int(),
    message: maybe(z.string()),
    error_subcode: maybe(z.int()),
    is_transient: maybe(z.boolean()),
    error_user_title: maybe(z.string()),
    /** Words alone in older answers. */
    error_data: maybe(z.union([z.string(), z.object({ details: maybe(z.string()) })])),
    fbtrace_id: maybe(z.string()),
  }),
})

type GraphError = z.infer<typeof refused>['error']

/**
 * The facts of one call of the Graph API. Meta's own code decides what a failure means, not the
 * status it came with; the body is not kept, for it names the person.
 */
export function outcomeOf(exchange: Exchange): Outcome {
  if (exchange.kind === 'fault') return failed(exchange.errorClass, exchange.message)
  const { status } = exchange
  const json = jsonOf(exchange)
  const read = refused.safeParse(json)
  if (read.success) return refusal(exchange, read.data.error)
  // Meta has taken what it answers 200 for, whether or not the id can be read: a status brings it.
  if (isSuccess(status)) return success(exchange, json)
  const isRedirect = status >= 300 && status < 400
  const what = isRedirect ? 'redirects, which is never followed' : 'gave no reason of its own'
  const words = `The Graph API answered ${status} and ${what}`
  return withWait(failed(isRedirect ? 'redirect' : 'status', words, { status }), exchange)
}

/** A failure; `error` is safe for the organisation to read. */
export function failed(
  errorClass: ErrorClass,
  error: string,
  more: { status?: number; code?: string; provider?: MetaFacts } = {},
): Outcome & { outcome: 'failed' } {
  return { outcome: 'failed', error_class: errorClass, error: safeString(error, 500), ...more }
}

function success({ status, headers = {} }: Answer, json: unknown): Outcome {
  const { usage } = readUsage(headers)
  const read = taken.safeParse(json)
  const provider: MetaFacts = usage === null ? {} : { usage }
  if (!read.success) return { outcome: 'delivered', status, provider }
  const { messages: [message], contacts } = read.data
  put(provider, 'message_status', message.message_status)
  put(provider, 'wa_id', contacts?.[0].wa_id)
  return { outcome: 'delivered', status, provider_id: safeString(message.id, 1024), provider }
}

function refusal(answer: Answer, error: GraphError): Outcome {
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
    status: answer.status,
    code: String(code),
    provider,
  })
  return withWait(outcome, answer)
}

/** Takes the longer wait of the two that an answer may ask for. */
function withWait(
  outcome: Outcome & { outcome: 'failed' },
  { retryAfter, headers = {} }: Answer,
): Outcome {
  const { usage, waitS } = readUsage(headers)
  if (usage !== null) outcome.provider = { ...outcome.provider, usage }
  const isLonger = waitS > 0 && !(Number(retryAfter ?? 0) >= waitS)
  const wait = isLonger ? String(waitS) : retryAfter
  return wait === null ? outcome : { ...outcome, retry_after: safeString(wait, 64) }
}

function jsonOf({ body, cut }: Answer): unknown {
  try {
    return JSON.parse(safeText(body, { cut }).text)
  } catch {
    return null
  }
}

/** Keeps a text that came; what is of another type counts as absent. */
function put(
  facts: MetaFacts,
  name: 'title' | 'details' | 'fbtrace_id' | 'message_status' | 'wa_id',
  value: string | undefined,
): void {
  if (value !== undefined && value !== '') facts[name] = safeString(value, 1000)
}

/** Seven digits and more, with what people write between them, are somebody's number. */
function withoutNumbers(text: string): string {
  return text.replace(/\+?\d(?:[ ().-]*\d){6,}/g, '…')
}

/** A field that may be absent or of another type: no answer is given up for one. */
function maybe<T extends z.ZodType>(schema: T): z.ZodCatch<z.ZodOptional<T>> {
  return schema.optional().catch(undefined)
}
