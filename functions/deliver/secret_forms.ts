import { Buffer } from 'node:buffer'
import type { Endpoint } from '../_shared/contract/contract.ts'

/** Shorter texts are parts of too many words to be secrets. */
const shortestSecret = 4
/** Parts of a value, such as what follows `Bearer`, count only from this length. */
const shortestPart = 8

/**
 * The secrets of an endpoint in the forms in which a receiver could repeat them: the values of its
 * custom headers, its signing secrets and its credentials, unchanged and in the usual encodings. Longest
 * first, so that no part is replaced before the whole.
 */
export function secretForms(endpoint: Endpoint): string[] {
  const forms = new Set<string>()
  for (const text of secretTexts(endpoint)) {
    for (const form of formsOf(text)) if (form.length >= shortestSecret) forms.add(form)
  }
  return [...forms].sort((a, b) => b.length - a.length)
}

function secretTexts(endpoint: Endpoint): Set<string> {
  const texts = new Set<string>()
  // Only the values of headers are secret, not their names.
  for (const value of Object.values(endpoint.headers)) addValue(texts, value)
  for (const secret of endpoint.secrets) texts.add(secret.replace(/^wh(?:sec|sk)_/, ''))
  const { credentials, channel } = endpoint as { credentials?: unknown; channel?: unknown }
  for (const value of textsIn(credentials)) addValue(texts, value)
  for (const value of textsIn((channel as { access_token?: unknown } | null)?.access_token)) {
    addValue(texts, value)
  }
  return texts
}

/** Adds a value, and its parts that are secret alone: a token, the value of a cookie, a password. */
function addValue(texts: Set<string>, value: string): void {
  if (value.length < shortestSecret) return
  texts.add(value)
  const [, encoded] = /^basic\s+([A-Za-z0-9+/=]+)$/i.exec(value) ?? []
  const login = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8')
  const parts = [
    ...value.split(/[\s,;]+/).flatMap((part) => [part, part.slice(part.indexOf('=') + 1)]),
    // A URL may be a credential, but its host is not secret.
    value.replace(/^https?:\/\/[^/]*/i, ''),
    login,
    login.slice(login.indexOf(':') + 1),
  ]
  for (const part of parts) if (part.length >= shortestPart) texts.add(part)
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

function formsOf(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1)
  const forms = [text, json, json.replaceAll('/', '\\/'), htmlOf(text)]
  const url = urlOf(text)
  forms.push(url, url.replaceAll('%20', '+'))
  forms.push(url.replace(/%../g, (escape) => escape.toLowerCase()))
  // The base64 and hexadecimal forms of a short text would also match other texts.
  if (text.length < shortestPart) return forms
  const bytes = bytesOf(text)
  forms.push(hexOf(bytes))
  for (const before of [0, 1, 2]) {
    const base64 = base64Of(bytes, before)
    forms.push(base64, base64.replaceAll('+', '-').replaceAll('/', '_'))
  }
  return forms
}

/** The bytes of UTF-8 as characters. For a few bytes this is faster than a Buffer. */
function bytesOf(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : String.fromCharCode(...new TextEncoder().encode(text))
}

function hexOf(bytes: string): string {
  let hex = ''
  for (let at = 0; at < bytes.length; at++) {
    hex += bytes.charCodeAt(at).toString(16).padStart(2, '0')
  }
  return hex
}

function urlOf(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    // Half a surrogate pair.
    return text
  }
}

function htmlOf(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** The characters of base64 that depend only on these bytes, if `before` other bytes precede them. */
function base64Of(bytes: string, before: number): string {
  const first = Math.ceil(before * 8 / 6)
  const last = Math.floor((before + bytes.length) * 8 / 6)
  return btoa(' '.repeat(before) + bytes).slice(first, last)
}
