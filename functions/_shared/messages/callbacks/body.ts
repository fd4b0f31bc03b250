import { isDeeper } from '../../http/json_depth.ts'
import { safeText } from '../../base/safe_text.ts'
import { objectOf } from './fields.ts'
import type { JsonObject } from './update.ts'

/** WhatsApp's own nesting is about 12 levels. */
const maxDepth = 64

/** NUL or a half surrogate pair as a JSON escape; a valid pair matches too. */
const suspicious = /\\u(?:0000|d[89a-f])/i

/** Numbers that a double cannot store exactly, or not at all. */
const largeNumber = /[:[,\s]-?(?:\d{16}|\d+(?:\.\d+)?e\+?\d{3})/i

/**
 * Parses the bytes of a callback; null if they are not a JSON object. Integers beyond 2^53 become text,
 * so that ids stay exact. Text that Postgres cannot store (NUL, half a surrogate pair, invalid UTF-8)
 * becomes U+FFFD, and every object around it gets `"lossy": true`.
 */
export function readBody(bytes: Uint8Array): JsonObject | null {
  if (isDeeper(bytes, maxDepth)) return null
  const { text, lossy } = safeText(bytes)
  let value: unknown
  try {
    value = largeNumber.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text)
  } catch {
    return null
  }
  return objectOf(lossy || suspicious.test(text) ? makeSafe(value, lossy).value : value)
}

/** JSON.parse passes the third argument since V8 11.4. */
function keepDigits(_name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source ?? ''
  return !Number.isFinite(value) || /^-?\d+$/.test(source) ? source : value
}

type Safe = { value: unknown; lossy: boolean }

/** `wasLossy`: decoding the bytes has already replaced characters. */
function makeSafe(value: unknown, wasLossy: boolean): Safe {
  if (typeof value === 'string') {
    const safe = safeOf(value)
    return { value: safe, lossy: safe !== value || wasLossy && safe.includes('\u{fffd}') }
  }
  if (Array.isArray(value)) {
    const all = value.map((element) => makeSafe(element, wasLossy))
    return { value: all.map((one) => one.value), lossy: all.some((one) => one.lossy) }
  }
  if (typeof value !== 'object' || value === null) return { value, lossy: false }
  let lossy = false
  const members = Object.entries(value).map(([name, member]): [string, unknown] => {
    const safeName = safeOf(name)
    const safe = makeSafe(member, wasLossy)
    lossy ||= safe.lossy || safeName !== name
    return [safeName, safe.value]
  })
  if (lossy) members.push(['lossy', true])
  return { value: Object.fromEntries(members), lossy }
}

function safeOf(text: string): string {
  if (text.isWellFormed() && !text.includes('\0')) return text
  return text.replaceAll('\0', '\u{fffd}').toWellFormed()
}
