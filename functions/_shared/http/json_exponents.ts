const quote = 0x22
const backslash = 0x5c

/**
 * Whether the exponents of the numbers of a JSON text, without their signs, add up to more than `most`.
 * Postgres writes `1e131071` in jsonb with all of its digits, so a short text can become very long. For
 * invalid JSON the result may be true or false.
 */
export function isLongerWritten(bytes: Uint8Array, most: number): boolean {
  let sum = 0
  let inText = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (inText) {
      if (byte === backslash) at++
      else if (byte === quote) inText = false
    } else if (byte === quote) inText = true
    // Not the e of true and false.
    else if ((byte === 0x65 || byte === 0x45) && digitOf(bytes[at - 1]) !== null) {
      let exponent = 0
      if (bytes[at + 1] === 0x2b || bytes[at + 1] === 0x2d) at++
      for (let digit = digitOf(bytes[at + 1]); digit !== null; digit = digitOf(bytes[at + 1])) {
        exponent = exponent * 10 + digit
        at++
      }
      sum += exponent
      if (sum > most) return true
    }
  }
  return false
}

function digitOf(byte: number | undefined): number | null {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : null
}
