const quote = 0x22
const backslash = 0x5c

/**
 * Whether objects and arrays of a JSON text lie deeper in each other than `depth`: told from the
 * bytes, before a parser walks down there.
 */
export function isDeeper(bytes: Uint8Array, depth: number): boolean {
  let level = 0
  let inText = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (inText) {
      if (byte === backslash) at++
      else if (byte === quote) inText = false
    } else if (byte === quote) inText = true
    else if (byte === 0x5b || byte === 0x7b) {
      if (++level > depth) return true
    } else if (byte === 0x5d || byte === 0x7d) level--
  }
  return false
}
