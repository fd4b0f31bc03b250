/** A number without the spaces, brackets and dashes with which people write it. */
export function plainNumber(text: string): string {
  return text.replace(/[\s().-]/g, '')
}

/** Whether it is a phone number with + and the country code. */
export function isNumber(text: string): boolean {
  return /^\+[1-9]\d{6,14}$/.test(text)
}
