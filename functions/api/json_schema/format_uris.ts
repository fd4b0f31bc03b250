import { isIpv4, isIpv6 } from './format_hosts.ts'

/** The parts of RFC 3986, of which each character belongs to one. */
const parts = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([^]*))?$/

/** A URI with a scheme and something after it. */
export function isUri(text: string): boolean {
  const [, scheme, authority, path = ''] = parts.exec(text) ?? []
  return scheme !== undefined && isScheme(scheme) && (authority !== undefined || path !== '') &&
    isUriReference(text)
}

/** A URI, or a reference relative to one. */
export function isUriReference(text: string): boolean {
  const [, scheme, authority, path = '', query = '', fragment = ''] = parts.exec(text) ?? []
  // A colon after what is no scheme is a part of the path.
  if (scheme !== undefined && !isScheme(scheme) && !isText(scheme, ':')) return false
  return (authority === undefined || isAuthority(authority)) && isText(path, '/:@"') &&
    isText(query, '/?:@"') && isText(fragment, '/?:@"')
}

function isScheme(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*$/i.test(text)
}

/** Whether a text has only unreserved characters, those that part components, escapes, and `more`. */
function isText(text: string, more: string): boolean {
  for (const character of text.replace(/[\w.~!$&'()*+,;=%-]/g, '')) {
    if (!more.includes(character)) return false
  }
  return !/%(?![0-9a-f]{2})/i.test(text)
}

function isAuthority(text: string): boolean {
  const at = text.lastIndexOf('@')
  if (at >= 0 && !isText(text.slice(0, at), ':')) return false
  const host = text.slice(at + 1)
  const colon = host.lastIndexOf(':')
  const hasPort = colon >= 0 && /^\d*$/.test(host.slice(colon + 1))
  const name = hasPort ? host.slice(0, colon) : host
  if (!name.startsWith('[')) return isText(name, '"')
  const address = name.slice(1, -1)
  return name.endsWith(']') &&
    (isIpv6(address) || /^v[0-9a-f]+\.[\w.~!$&'()*+,;=:-]+$/i.test(address))
}

/** Text and expressions of RFC 6570 such as `{?page,size*}`. */
export function isUriTemplate(text: string): boolean {
  return text.split(/(\{[^{}]*\})/).every((part) => {
    if (!part.startsWith('{') || !part.endsWith('}')) {
      return !/[^!-~\u0080-\u{10ffff}]|["<>\\^`{|}]|%(?![0-9a-f]{2})/iu.test(part)
    }
    return part.slice(1, -1).replace(/^[+#./;?&=,!@|]/, '').split(',').every((variable) => {
      const name = variable.replace(/(?::[1-9]\d{0,3}|\*)$/, '')
      return name.split('.').every((piece) =>
        piece !== '' && !/[^\w%]|%(?![0-9a-f]{2})/i.test(piece)
      )
    })
  })
}

/** A URL of the web or FTP with a public name or address. */
export function isWebUrl(text: string): boolean {
  if (/\s/.test(text)) return false
  const [, authority] = /^(?:https?|ftp):\/\/([^/]+)(?:\/[^]*)?$/i.exec(text) ?? []
  if (authority === undefined) return false
  const host = authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d{2,5}$/, '')
  return isIpv4(host) ? isPublic(host) : isDomain(host)
}

function isPublic(address: string): boolean {
  const [first = 0, second = 0, , last = 0] = address.split('.').map(Number)
  if (first === 10 || first === 127 || first === 0 || first > 223) return false
  if (first === 169 && second === 254) return false
  if (first === 192 && second === 168) return false
  return !(first === 172 && second >= 16 && second <= 31) && last > 0 && last < 255
}

/** Labels of letters (also beyond ASCII), digits and single hyphens; the last has no digit. */
function isDomain(host: string): boolean {
  const labels = host.split('.')
  return labels.length > 1 && isTopLevel(labels.at(-1) ?? '') && labels.every((label) => {
    return label !== '' && !/^-|-$|--|[^a-z0-9\u{a1}-\u{ffff}-]/iu.test(label)
  })
}

function isTopLevel(label: string): boolean {
  return label.length > 1 && !/[^a-z\u{a1}-\u{ffff}]/iu.test(label)
}
