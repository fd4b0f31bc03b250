/** Whether a code point matches. */
export type Fits = (codePoint: number) => boolean

/**
 * The test of one character: `source` is a character, an escape or a class of ECMAScript. The regular
 * expressions of JavaScript test the single character, so each class has its standard meaning.
 */
export function characterTest(source: string): Fits {
  const only = source.codePointAt(0)
  if (only !== undefined && source.length === (only > 0xffff ? 2 : 1) && source !== '.') {
    return (codePoint) => codePoint === only
  }
  const pattern = new RegExp(`^${source}$`, 'u')
  /** Answers for ASCII: 0 is unknown, 1 no, 2 yes. */
  const known = new Uint8Array(128)
  return (codePoint) => {
    if (codePoint >= 128) return pattern.test(String.fromCodePoint(codePoint))
    if (known[codePoint] === 0) {
      known[codePoint] = pattern.test(String.fromCodePoint(codePoint)) ? 2 : 1
    }
    return known[codePoint] === 2
  }
}
