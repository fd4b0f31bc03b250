const mostHost = 253
const mostMailbox = 64

/** A host name of RFC 1123: labels of up to 63 letters, digits and hyphens. */
export function isHostname(text: string): boolean {
  if (text.length === 0 || text.length > mostHost) return false
  return text.split('.').every((label) => {
    return label.length <= 63 && /^[a-z0-9]/i.test(label) && /[a-z0-9]$/i.test(label) &&
      !/[^a-z0-9-]/i.test(label)
  })
}

/** Four numbers from 0 to 255. */
export function isIpv4(text: string): boolean {
  const parts = text.length > 15 ? [] : text.split('.')
  return parts.length === 4 &&
    parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255)
}

/** Eight groups of four hexadecimal digits, of which `::` stands for one or more zeros. */
export function isIpv6(text: string): boolean {
  if (text.length > 45) return false
  const halves = text.split('::')
  if (halves.length > 2) return false
  const last = text.slice(text.lastIndexOf(':') + 1)
  const isMixed = last.includes('.')
  if (isMixed && !isStrictIpv4(last)) return false
  const groups = halves.flatMap((half) => half === '' ? [] : half.split(':'))
  const digits = isMixed ? groups.slice(0, -1) : groups
  if (!digits.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false
  const count = digits.length + (isMixed ? 2 : 0)
  return halves.length === 1 ? count === 8 : count <= 7
}

/** Without leading zeros. */
function isStrictIpv4(text: string): boolean {
  return isIpv4(text) && !/(?:^|\.)0\d/.test(text)
}

/** A mailbox of RFC 5321, whose local part may be quoted. */
export function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  const name = text.slice(0, Math.max(at, 0))
  const host = text.slice(at + 1)
  if (name === '' || name.length > mostMailbox || host.length > mostHost) return false
  return isMailbox(name) && isMailHost(host)
}

function isMailbox(name: string): boolean {
  if (/^".*"$/.test(name) && name.length > 1) {
    return /^(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*$/.test(name.slice(1, -1))
  }
  return /^[\w.!#$%&'*+/=?^`{|}~-]+$/.test(name) && !/^\.|\.$|\.\./.test(name)
}

function isMailHost(host: string): boolean {
  if (!host.startsWith('[') || !host.endsWith(']')) return isHostname(host)
  const address = host.slice(1, -1)
  return /^ipv6:/i.test(address) ? isIpv6(address.slice(5)) : isIpv4(address)
}
