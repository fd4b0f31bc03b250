/** The text with U+FFFD for each NUL, which Postgres stores in no text. */
export function withoutNul(text: string): string {
  return text.replaceAll('\0', '\ufffd')
}
