/** A number without the spaces, brackets and dashes with which people write it. */
export function plainNumber(text: string): string {
  return text.replace(/[\s().-]/g, '')
}

/** Whether it is a phone number with + and the country code. */
export function isNumber(text: string): boolean {
  return /^\+[1-9]\d{6,14}$/.test(text)
}

/** Whether it names a person: a phone number, a wa_id (digits) or a user id (a country and digits). */
export function isPerson(text: string): boolean {
  return isNumber(text) || /^[1-9]\d{6,14}$/.test(text) ||
    /^[A-Z]{2}\.[A-Za-z0-9]{1,128}$/.test(text)
}
