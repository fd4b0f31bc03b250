import type { Endpoint, Outcome } from '../_shared/contract/contract.ts'
import { overlapOf, prefixesOf } from './overlap.ts'
import { type SecretForm, secretForms } from './secret_forms.ts'

const mask = '***'
/** If a text is cut within a secret, the beginning of the secret is recognised from this length. */
const shortestStart = 4
/** The length at which errors are cut. */
const cutError = 500

/** The classes whose errors have fixed texts, and the texts of other classes without what was received. */
const ownClasses: ReadonlySet<string> = new Set(['dns', 'connect', 'timeout', 'reset'])
const ownError = /^The endpoint (?:responded with \d+|redirects with \d+, and redirects .*)$/
/** Seconds, or a date of RFC 9110, section 5.6.7, in one of its three formats. */
const retryAfter =
  /^\s*\d{1,9}(?:\.\d{1,9})?\s*$|^[A-Z][a-z]{2,8},? [\dA-Za-z -]{6,12} (?:[\d:]{8} GMT|[\d:]{8} \d{4})$/

/** The forms of each endpoint, because a run sends many deliveries to the same endpoint. */
const known = new WeakMap<Endpoint, SecretForm[]>()

/**
 * The outcome with `***` for each secret of the endpoint that its receiver has repeated: in the stored
 * part of the response, where the end may be cut within a secret, and in all other texts.
 */
export function maskSecrets(outcome: Outcome, endpoint: Endpoint): Outcome {
  // Most responses are empty or `ok`.
  const hasText = outcome.outcome === 'failed' || outcome.provider_id !== undefined ||
    outcome.provider !== undefined || (outcome.response ?? '').length >= shortestStart
  if (!hasText) return outcome
  const copy: Record<string, unknown> = { ...outcome }
  for (const [name, value] of Object.entries(outcome)) {
    if (isSpared(outcome, name, value)) continue
    const isCut = name === 'response' ? outcome.cut === true : name !== 'error' || isCutError(value)
    copy[name] = maskIn(value, endpoint, isCut)
  }
  // The stored text is no longer what was received.
  if (copy.response !== outcome.response) copy.lossy = true
  // SAFETY: only texts have changed.
  return copy as Outcome
}

/** Whether a text of an outcome stays: those that decide the retry, and those that hold nothing received. */
function isSpared(outcome: Outcome, name: string, value: unknown): boolean {
  if (name === 'outcome' || name === 'error_class') return true
  if (outcome.outcome === 'delivered' || typeof value !== 'string') return false
  if (name === 'code') return /^(?:[a-z_]+|\d{1,9})$/i.test(value)
  if (name === 'retry_after') return retryAfter.test(value)
  return name === 'error' && (ownClasses.has(outcome.error_class) || ownError.test(value))
}

function isCutError(value: unknown): boolean {
  return typeof value === 'string' && value.length >= cutError
}

function maskIn(value: unknown, endpoint: Endpoint, isCut: boolean): unknown {
  if (typeof value === 'string') return maskText(value, endpoint, isCut)
  if (Array.isArray(value)) return value.map((item) => maskIn(item, endpoint, isCut))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, maskIn(item, endpoint, isCut)]),
  )
}

function maskText(text: string, endpoint: Endpoint, isCut: boolean): string {
  if (text.length < shortestStart) return text
  let forms = known.get(endpoint)
  if (forms === undefined) known.set(endpoint, forms = secretForms(endpoint))
  // First the end, because replacing whole secrets could hide the beginning of a cut one.
  let masked = isCut ? maskStart(text, forms) : text
  for (const { text: form, word } of forms) {
    if (masked.includes(form)) masked = masked.replaceAll(word ?? form, mask)
  }
  return masked
}

/** Replaces the end of a text if a secret begins with it. */
function maskStart(text: string, forms: SecretForm[]): string {
  let end = text.length
  for (const form of forms) {
    const from = Math.max(0, text.length - form.text.length)
    // Most texts do not have the beginning at all.
    if (text.indexOf(form.text.slice(0, shortestStart), from) < 0) continue
    form.prefixes ??= prefixesOf(form.text)
    const length = overlapOf(text, form.text, form.prefixes)
    if (length < shortestStart) continue
    const at = text.length - length
    if (form.word !== null && /\w/.test(text.charAt(at - 1))) continue
    end = Math.min(end, at)
  }
  return end === text.length ? text : text.slice(0, end) + mask
}
