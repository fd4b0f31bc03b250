import { isIP } from 'node:net'
import type { AddressPolicy } from './address.ts'

/**
 * A URL that may be sent to, as far as its text tells; names are vetted when they are looked up.
 */
export type Target = { ok: true; url: URL } | { ok: false; problem: string }

/** The one sentence about a refused address: which address it was would tell of the inside. */
export const blockedMessage = 'The address is not allowed: use a public host'

const portMessage = 'The port is not allowed: use 443'

/** What was checked under each policy; a policy is dropped with all that was checked under it. */
const checked = new WeakMap<AddressPolicy, Map<string, Target>>()
const mostChecked = 10_000

/** `checkTarget` of a URL that is asked for again and again: parsing one costs 5 µs. */
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
 * Checks a URL's scheme, credentials, port and literal host, before each send; outbox.check_url has
 * the same rules for the save.
 */
export function checkTarget(text: string, policy: AddressPolicy): Target {
  if (!URL.canParse(text)) return refuse('The URL cannot be parsed')
  const url = new URL(text)
  if (url.protocol !== 'https:' && !(policy.rules.allowHttp && url.protocol === 'http:')) {
    return refuse('The URL must begin with https://')
  }
  if (url.username !== '' || url.password !== '') {
    return refuse('The URL must not hold credentials: use a header')
  }
  if (!policy.allowsPort(portOf(url))) return refuse(portMessage)
  return isAllowedHost(url.hostname, policy) ? { ok: true, url } : refuse(blockedMessage)
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

/**
 * Checks a host that is an address itself: no client looks those up, so `lookup` never sees them.
 * The URL parser has turned `0x7f.1`, `2130706433` and the like into their plain form already. A
 * name passes here.
 */
export function isAllowedHost(hostname: string, policy: AddressPolicy): boolean {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(host) === 0 || policy.allows(host)
}

function refuse(problem: string): Target {
  return { ok: false, problem }
}
