import { parsePhoneNumberFromString } from 'libphonenumber-js'

/**
 * A phone number as E.164 with `+`, or null. Spaces, hyphens and brackets are removed. A number without
 * `+` is refused, because WhatsApp would add the sender's country code. Only the length is checked
 * against the country's plan, because tables of assigned ranges go out of date.
 */
export function e164(text: string): string | null {
  if (!text.startsWith('+')) return null
  const number = parsePhoneNumberFromString(text, { extract: false })
  if (number === undefined || number.ext !== undefined || !number.isPossible()) return null
  return number.number
}

/**
 * What identifies a person: a number as `e164()` returns it, a wa_id (the digits of a number with its
 * country code), or a user id of WhatsApp, such as `US.13491208655302741918`; null if it is none of them.
 */
export function identifier(text: string): string | null {
  if (/^[A-Z]{2}\.[A-Za-z0-9.]{1,190}$/.test(text) || /^[1-9][0-9]{6,14}$/.test(text)) return text
  return e164(text)
}
