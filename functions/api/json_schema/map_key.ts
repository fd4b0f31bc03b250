/**
 * The key for a text in a Map or a Set, so that equal texts have equal keys. The engine hashes texts that are
 * integers by their value alone, so texts such as the multiples of 4096 would all collide.
 */
export function mapKey(text: string): string {
  const first = text.charCodeAt(0)
  return isDigit(first) || first === hash ? `#${text}` : text
}

const hash = '#'.charCodeAt(0)

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}
