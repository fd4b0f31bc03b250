import { parsePhoneNumberFromString } from 'libphonenumber-js'

/**
 * A person's number as E.164 with its `+`, or null. Spaces, hyphens and brackets go; without a `+`
 * WhatsApp would put the sender's country code before it, so that is refused. Only the length is
 * checked against the country's plan: tables of the ranges in use age.
 */
export function e164(text: string): string | null {
  if (!text.startsWith('+')) return null
  const number = parsePhoneNumberFromString(text, { extract: false })
  if (number === undefined || number.ext !== undefined || !number.isPossible()) return null
  return number.number
}
