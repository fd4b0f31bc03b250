/** A text, as far as the search reads it. */
export type Characters = Pick<string, 'length' | 'charCodeAt'>

/**
 * For each prefix of a text, the length of the longest shorter prefix that it ends with: the prefix function of
 * Knuth, Morris and Pratt, "Fast pattern matching in strings", SIAM Journal on Computing 6 (1977). Linear.
 */
export function prefixesOf(text: Characters): Int32Array {
  const lengths = new Int32Array(text.length)
  for (let at = 1; at < text.length; at++) {
    lengths[at] = extend(text, lengths, lengths[at - 1] ?? 0, text.charCodeAt(at))
  }
  return lengths
}

/**
 * The length of the longest end of `text` that is a beginning of `form`, or `form` itself; 0 if there is none.
 * It reads each character once, so the time is linear. `prefixes` is prefixesOf(form).
 */
export function overlapOf(text: Characters, form: Characters, prefixes: Int32Array): number {
  let length = 0
  for (let at = Math.max(0, text.length - form.length); at < text.length; at++) {
    length = extend(form, prefixes, length, text.charCodeAt(at))
  }
  return length
}

/** The beginning of `form` that is found after one more character. */
function extend(form: Characters, prefixes: Int32Array, found: number, code: number): number {
  let length = found
  while (length > 0 && (length === form.length || form.charCodeAt(length) !== code)) {
    length = prefixes[length - 1] ?? 0
  }
  return length < form.length && form.charCodeAt(length) === code ? length + 1 : 0
}
