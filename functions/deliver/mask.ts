import type { Endpoint, Outcome } from '../_shared/contract/contract.ts'
import { secretForms } from './secret_forms.ts'

const mask = '***'
/** If a text is cut within a secret, the beginning of the secret is recognised from this length. */
const shortestStart = 4
/** The length at which errors are cut. */
const cutError = 500

/** The forms of each endpoint, because a run sends many deliveries to the same endpoint. */
const known = new WeakMap<Endpoint, string[]>()

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
    if (name === 'outcome' || name === 'error_class') continue
    const isCut = name === 'response' ? outcome.cut === true : name !== 'error' || isCutError(value)
    copy[name] = maskIn(value, endpoint, isCut)
  }
  // The stored text is no longer what was received.
  if (copy.response !== outcome.response) copy.lossy = true
  // SAFETY: only texts have changed.
  return copy as Outcome
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
  for (const form of forms) {
    if (masked.includes(form)) masked = masked.replaceAll(form, mask)
  }
  return masked
}

/** Replaces the end of a text if a secret begins with it. */
function maskStart(text: string, forms: string[]): string {
  let end = text.length
  for (const form of forms) {
    const start = form.slice(0, shortestStart)
    let at = text.indexOf(start, Math.max(0, text.length - form.length))
    while (at >= 0 && !form.startsWith(text.slice(at))) at = text.indexOf(start, at + 1)
    if (at >= 0) end = Math.min(end, at)
  }
  return end === text.length ? text : text.slice(0, end) + mask
}
