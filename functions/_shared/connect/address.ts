import ipaddr from 'ipaddr.js'
import type { Settings } from '../contract/contract.ts'
import { createPortRules } from './ports.ts'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = [Address, number]

/** The operator's settings. */
export type AddressRules = {
  /** Allow plain http, for local development. */
  allowHttp: boolean
  /** Allowed networks that are not public, as CIDR text. */
  allowCidrs: readonly string[]
  /** Allowed ports of URLs, such as `443` and `1024-65535`; absent: any. */
  allowPorts?: readonly string[]
  /** Ports that are refused although `allowPorts` has them. */
  denyPorts?: readonly string[]
  /** A proxy for all connections, which vets host names; empty or absent: none. */
  proxyUrl?: string
}

export type AddressPolicy = {
  readonly rules: AddressRules
  /**
   * Whether connections to an IP address are allowed: it must be public, or in an allowed network.
   * IPv6 addresses that contain an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo, ISATAP) are
   * never public.
   */
  allows(address: string): boolean
  /** Whether a URL may have this port. */
  allowsPort(port: number): boolean
}

/** The rules in the settings of a dispatch response. */
export function addressRules(settings: Settings): AddressRules {
  return {
    allowHttp: settings.allow_http,
    allowCidrs: settings.allow_cidrs,
    allowPorts: settings.allow_ports,
    denyPorts: settings.deny_ports,
    proxyUrl: settings.proxy_url,
  }
}

/** Public ranges that nevertheless lead into a host or a cloud. */
const insidePublic: Network[] = [
  // Azure's wire server: metadata and DNS of the virtual machine, on a public address.
  ipaddr.parseCIDR('168.63.129.16/32'),
]

/** All IPv6 addresses in use on the Internet; others are special or unassigned. */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/** How many results are cached: parsing an address and checking all ranges costs 20 µs. */
const rememberedAddresses = 1_000

/** Creates a policy from the operator's rules. An invalid CIDR allows nothing. */
export function createAddressPolicy(rules: AddressRules): AddressPolicy {
  const networks = rules.allowCidrs.filter(ipaddr.isValidCIDR).map((cidr) => ipaddr.parseCIDR(cidr))
  const verdicts = new Map<string, boolean>()

  function allows(text: string): boolean {
    const known = verdicts.get(text)
    if (known !== undefined) return known
    const verdict = isAllowed(text, networks)
    if (verdicts.size >= rememberedAddresses) verdicts.clear()
    verdicts.set(text, verdict)
    return verdict
  }

  return { rules, allows, allowsPort: createPortRules(rules.allowPorts, rules.denyPorts) }
}

/** Returns the policy for rules: the same object while the rules stay equal. */
export type PolicySource = (rules: AddressRules) => AddressPolicy

/** Creates a source for all runs of a process, so that connections and results survive a batch. */
export function createPolicySource(): PolicySource {
  let last: AddressPolicy | null = null

  return function policyOf(rules): AddressPolicy {
    if (last === null || !isSame(last.rules, rules)) last = createAddressPolicy(rules)
    return last
  }
}

function isSame(a: AddressRules, b: AddressRules): boolean {
  return a.allowHttp === b.allowHttp && a.proxyUrl === b.proxyUrl &&
    a.allowCidrs.join() === b.allowCidrs.join() &&
    a.allowPorts?.join() === b.allowPorts?.join() && a.denyPorts?.join() === b.denyPorts?.join()
}

function isAllowed(text: string, networks: Network[]): boolean {
  // A zone id selects a network interface of this machine.
  if (text.includes('%')) return false
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return false
  const address = ipaddr.parse(text)
  if (networks.some((network) => isWithin(address, network))) return true
  return address instanceof ipaddr.IPv4 ? isPublicV4(address) : isPublicV6(address)
}

function isPublicV4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' &&
    !insidePublic.some((network) => isWithin(address, network))
}

function isPublicV6(address: ipaddr.IPv6): boolean {
  return address.match(globalUnicast) && address.range() === 'unicast' && !isIsatap(address)
}

/** RFC 5214: an interface identifier of 5efe with or without the universal bit, then the IPv4 address. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x0200)
}

function isWithin(address: Address, [network, bits]: Network): boolean {
  if (network instanceof ipaddr.IPv4) {
    return address instanceof ipaddr.IPv4 && address.match(network, bits)
  }
  return address instanceof ipaddr.IPv6 && address.match(network, bits)
}
