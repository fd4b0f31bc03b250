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
