import type { JsonObject } from './update.ts'

// WhatsApp may omit, rename or add members, so each reader accepts any value and returns null for an
// invalid one.

/** The end of the year 9999 in unix seconds; Postgres and JavaScript parse later dates differently. */
const lastSecond = 253_402_300_799

/** An object, not an array. */
export function objectOf(value: unknown): JsonObject | null {
  // SAFETY: an object of a JSON text that is not an array has text names and unknown values.
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? value as JsonObject
    : null
}

export function textOf(value: unknown, max: number): string | null {
  return typeof value === 'string' && value.length > 0 && value.length <= max ? value : null
}

/** Meta's ids, and phone numbers: digits, as a text or a number. */
export function digitsOf(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && /^[0-9]{1,32}$/.test(text) ? text : null
}

/** A time in unix seconds, as a text or a number. */
export function timeOf(value: unknown): number | null {
  const text = digitsOf(value)
  if (text === null) return null
  const seconds = Number(text)
  return seconds <= lastSecond ? seconds : null
}

export function elementsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Any value as an object: a non-object becomes the member `value`. */
export function asObject(value: unknown): JsonObject {
  return objectOf(value) ?? { value }
}
