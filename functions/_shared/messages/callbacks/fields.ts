import type { JsonObject } from './update.ts'

// WhatsApp may leave out, rename or add what it likes: each reader takes anything, and gives null for
// what is not of the form.

/** The end of the year 9999, in unix seconds: later, Postgres and JavaScript read dates differently. */
const lastSecond = 253_402_300_799

/** An object that is no array. */
export function objectOf(value: unknown): JsonObject | null {
  // SAFETY: an object of a JSON text that is no array has text names and unknown values.
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? value as JsonObject
    : null
}

/** A text of 1 to `max` characters. */
export function textOf(value: unknown, max: number): string | null {
  return typeof value === 'string' && value.length > 0 && value.length <= max ? value : null
}

/** Meta's ids of numbers and accounts, and people's numbers: digits, in a text or as a number. */
export function digitsOf(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && /^[0-9]{1,32}$/.test(text) ? text : null
}

/** A time in unix seconds, in a text or as a number. */
export function timeOf(value: unknown): number | null {
  const text = digitsOf(value)
  if (text === null) return null
  const seconds = Number(text)
  return seconds <= lastSecond ? seconds : null
}

/** The elements of an array. */
export function elementsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Anything as an object: what is none goes under `value`. */
export function asObject(value: unknown): JsonObject {
  return objectOf(value) ?? { value }
}
