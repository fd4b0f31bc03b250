import { Buffer } from 'node:buffer'
import type { Endpoint } from '../_shared/contract/contract.ts'

/** Shorter texts are parts of too many words to be secrets. */
const shortestSecret = 4
/** Shorter values are masked only as whole words. Parts of a value count only from this length. */
const shortestPart = 8
/** The parts of all values that count, the longest first: their number, and the characters of all. */
const mostParts = 32
const mostCharacters = 16_384
/** Values that a response has for many other reasons. */
const plain = /^(?:true|false|null|[+-]?[\d.]{1,7})$/i

/** One form of a secret. */
export type SecretForm = {
  text: string
  /** Finds the form as a whole word; null if it is masked everywhere. */
  word: RegExp | null
  /** prefixesOf(text), once it is needed. */
  prefixes: Int32Array | null
}

/**
 * The secrets of an endpoint in the forms in which a receiver could repeat them: the values of its
 * custom headers, its signing secrets and its credentials, unchanged and in the usual encodings. Longest
 * first, so that no part is replaced before the whole.
 */
export function secretForms(endpoint: Endpoint): SecretForm[] {
  const values = secretValues(endpoint).filter((value) => {
    return value.length >= shortestSecret && !plain.test(value)
  })
  const forms = new Map<string, SecretForm>()
  for (const text of new Set([...values, ...partsOf(values)])) {
    const isShort = text.length < shortestPart
    for (const form of formsOf(text)) {
      if (form.length < shortestSecret || forms.has(form)) continue
      forms.set(form, { text: form, word: isShort ? wordOf(form) : null, prefixes: null })
    }
  }
  return [...forms.values()].sort((a, b) => b.text.length - a.text.length)
}

function secretValues(endpoint: Endpoint): string[] {
  const { credentials, channel } = endpoint as { credentials?: unknown; channel?: unknown }
  return [
    // Only the values of headers are secret, not their names.
    ...Object.values(endpoint.headers),
    ...endpoint.secrets.map((secret) => secret.replace(/^wh(?:sec|sk)_/, '')),
    ...textsIn(withoutUser(credentials)),
    ...textsIn((channel as { access_token?: unknown } | null)?.access_token),
  ]
}

/** The name of a user is often a common word, such as that of a queue. */
function withoutUser(credentials: unknown): unknown {
  if (typeof credentials !== 'object' || credentials === null) return credentials
  return { ...credentials, username: undefined }
}

/** The parts of values that are secret alone: a token, the value of a cookie, a password. */
function partsOf(values: string[]): string[] {
  const parts = new Set<string>()
  for (const value of values) {
    for (const part of partsOfOne(value)) if (part.length >= shortestPart) parts.add(part)
  }
  for (const value of values) parts.delete(value)
  let left = mostCharacters
  return [...parts].sort((a, b) => b.length - a.length).slice(0, mostParts).filter((part) => {
    left -= part.length
    return left >= 0
  })
}

function partsOfOne(value: string): string[] {
  const [, encoded] = /^basic\s+([A-Za-z0-9+/=]+)$/i.exec(value) ?? []
  const login = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8')
  // A URL may be a credential, but its host is not secret.
  const rest = value.replace(/^https?:\/\/[^/]*/i, '')
  return [
    rest,
    ...[...rest.split(/[\s,;]+/), ...rest.split(/[\s,;&:"']+/)].flatMap(endsOf),
    login,
    login.slice(login.indexOf(':') + 1),
  ]
}

/** A text, and what follows each `=` in it, up to as many as count. */
function endsOf(text: string): string[] {
  const ends = [text]
  let at = text.indexOf('=')
  for (; at >= 0 && ends.length <= mostParts; at = text.indexOf('=', at + 1)) {
    ends.push(text.slice(at + 1))
  }
  return ends
}

/** Finds a text that no letter, digit or underscore touches. */
function wordOf(text: string): RegExp {
  return new RegExp(`(?<!\\w)${text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')}(?!\\w)`, 'g')
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

function formsOf(text: string): string[] {
  const forms = /^[\w.~-]*$/.test(text)
    ? [text]
    : [text, ...jsonForms(text), ...htmlForms(text), ...urlForms(text), quotedForm(text)]
  // These forms of a short text would also match other texts.
  if (text.length < shortestPart) return forms
  forms.push(text.toLowerCase(), text.toUpperCase())
  const bytes = bytesOf(text)
  const hex = hexOf(bytes)
  forms.push(hex, hex.toUpperCase())
  for (const before of [0, 1, 2]) {
    const base64 = base64Of(bytes, before)
    forms.push(base64, base64.replaceAll('+', '-').replaceAll('/', '_'))
  }
  return forms
}

/** With the escapes of JavaScript, PHP, Go, .NET and Python, and JSON within JSON. */
function jsonForms(text: string): string[] {
  const json = jsonOf(text)
  const ascii = asciiOf(json)
  return [
    json,
    jsonOf(json),
    json.replaceAll('/', '\\/'),
    ascii,
    ascii.replaceAll('/', '\\/'),
    ascii.replace(/\\u..../g, (escape) => `\\u${escape.slice(2).toUpperCase()}`),
    json.replace(/[<>&]/g, (one) => `\\u00${hexOf(one)}`),
    json.replaceAll('\\"', '\\u0022')
      .replace(/[&'+<>`]/g, (one) => `\\u00${hexOf(one).toUpperCase()}`),
  ]
}

function jsonOf(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function asciiOf(json: string): string {
  return json.replace(/[^\x20-\x7e]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** As quoted-printable of a short line; longer ones are divided. */
function quotedForm(text: string): string {
  return text.replaceAll('=', '=3D')
}

/** The entities of quotes have several names. */
function htmlForms(text: string): string[] {
  const html = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return ['&quot;', '&#34;'].flatMap((quote) => {
    return ["'", '&#39;', '&#x27;', '&#039;', '&apos;'].map((apostrophe) => {
      return html.replaceAll('"', quote).replaceAll("'", apostrophe)
    })
  })
}

/** Libraries differ in the characters that they encode, and in the letters of an escape. */
function urlForms(text: string): string[] {
  const url = urlOf(text)
  const all = url.replace(/[!'()*]/g, (one) => `%${hexOf(one).toUpperCase()}`)
  return [url, all].flatMap((one) => [one, one.replaceAll('%2F', '/')]).flatMap((one) => {
    const small = one.replace(/%../g, (escape) => escape.toLowerCase())
    return [one, one.replaceAll('%20', '+'), small]
  }).flatMap((one) => {
    // Also a URL in a URL.
    return [one, one.replaceAll('%', '%25').replaceAll('+', '%2B')]
  })
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

/** The characters of base64 that depend only on these bytes, if `before` other bytes precede them. */
function base64Of(bytes: string, before: number): string {
  const first = Math.ceil(before * 8 / 6)
  const last = Math.floor((before + bytes.length) * 8 / 6)
  return btoa(' '.repeat(before) + bytes).slice(first, last)
}
