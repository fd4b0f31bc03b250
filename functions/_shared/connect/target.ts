import { isIP } from 'node:net'
import type { AddressPolicy } from './address.ts'

/** A checked URL, or the problem. Host names are vetted later, at the DNS lookup. */
export type Target = { ok: true; url: URL } | { ok: false; problem: string }

/** The message for every blocked address: the address itself would reveal internal networks. */
export const blockedMessage = 'The address is not allowed: use a public host'

/** The message for a blocked port. */
export const portMessage = 'The port is not allowed: use 443'

/** Results by policy, so that they are garbage-collected together with it. */
const checked = new WeakMap<AddressPolicy, Map<string, Target>>()
const mostChecked = 10_000

/** `checkTarget` with a cache, because parsing a URL costs 5 µs. */
export function targetOf(text: string, policy: AddressPolicy): Target {
  let targets = checked.get(policy)
  if (targets === undefined || targets.size >= mostChecked) {
    targets = new Map()
    checked.set(policy, targets)
  }
  const known = targets.get(text)
  if (known !== undefined) return known
  const target = checkTarget(text, policy)
  targets.set(text, target)
  return target
}

/**
 * Checks a URL's scheme, credentials, port and literal host before each send. outbox.check_url has the
 * same rules when the URL is saved.
 */
export function checkTarget(text: string, policy: AddressPolicy): Target {
  if (!URL.canParse(text)) return refuse('The URL cannot be parsed')
  const url = new URL(text)
  if (url.protocol !== 'https:' && !(policy.rules.allowHttp && url.protocol === 'http:')) {
    return refuse('The URL must start with https://')
  }
  if (url.username !== '' || url.password !== '') {
    return refuse('The URL must not contain credentials: use a header')
  }
  if (!policy.allowsPort(portOf(url))) return refuse(portMessage)
  return isAllowedHost(url.hostname, policy) ? { ok: true, url } : refuse(blockedMessage)
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

/**
 * Checks a host that is a literal address, for which clients do not call `lookup`. The URL parser has
 * already normalised forms like `0x7f.1` and `2130706433`. A name passes.
 */
export function isAllowedHost(hostname: string, policy: AddressPolicy): boolean {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(host) === 0 || policy.allows(host)
}

function refuse(problem: string): Target {
  return { ok: false, problem }
}
