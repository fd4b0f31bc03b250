const quote = 0x22
const backslash = 0x5c

/** Whether a JSON text has more than `depth` levels of objects and arrays, without parsing it. */
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
