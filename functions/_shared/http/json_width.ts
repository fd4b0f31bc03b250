const quote = 0x22
const backslash = 0x5c
const colon = 0x3a

/**
 * Whether an object of a JSON text has more than `most` members, without parsing it. Postgres sorts
 * the members of jsonb, and for names that an attacker chooses this takes quadratic time. For invalid
 * JSON the result may be true or false.
 */
export function isWider(bytes: Uint8Array, most: number): boolean {
  const members: number[] = [0]
  let inText = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (inText) {
      if (byte === backslash) at++
      else if (byte === quote) inText = false
    } else if (byte === quote) inText = true
    else if (byte === 0x5b || byte === 0x7b) members.push(0)
    else if (byte === 0x5d || byte === 0x7d) members.pop()
    else if (byte === colon) {
      const count = (members.pop() ?? 0) + 1
      if (count > most) return true
      members.push(count)
    }
  }
  return false
}
