import ipaddr from 'ipaddr.js'
import type { Settings } from '../contract/contract.ts'
import { createPortRules } from './ports.ts'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = [Address, number]

/** What the operator has set. */
export type AddressRules = {
  /** Plain http, for local development. */
  allowHttp: boolean
  /** Networks that are allowed although they are not public, as CIDR text. */
  allowCidrs: readonly string[]
  /** Ports of URLs, such as `443` and `1024-65535`; any when left out. */
  allowPorts?: readonly string[]
  /** Ports of those that are refused all the same. */
  denyPorts?: readonly string[]
  /** A proxy that makes every connection, and vets the names; empty or left out: none. */
  proxyUrl?: string
}

/** What may be connected to. */
export type AddressPolicy = {
  readonly rules: AddressRules
  /**
   * Whether an IP address may be connected to: it must be public, or in a network that the operator
   * allows. IPv6 forms that carry an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo, ISATAP)
   * are not public, whichever they carry.
   */
  allows(address: string): boolean
  /** Whether a URL may name a port. */
  allowsPort(port: number): boolean
}

/** The rules in a run's settings. */
export function addressRules(settings: Settings): AddressRules {
  return {
    allowHttp: settings.allow_http,
    allowCidrs: settings.allow_cidrs,
    allowPorts: settings.allow_ports,
    denyPorts: settings.deny_ports,
    proxyUrl: settings.proxy_url,
  }
}

/** Public ranges that reach a host's or a cloud's inside all the same. */
const insidePublic: Network[] = [
  // Azure's wire server: metadata and DNS of the virtual machine, on a public address.
  ipaddr.parseCIDR('168.63.129.16/32'),
]

/** All IPv6 addresses that are in use on the Internet; the rest is special or not given out. */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/**
 * Addresses whose verdict is remembered: reading one and holding it against all ranges costs 20 µs.
 */
const rememberedAddresses = 1_000

/** Makes a policy of the operator's rules. A CIDR that cannot be read allows nothing. */
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

/** Gives the policy of the rules: the same one while they stay the same. */
export type PolicySource = (rules: AddressRules) => AddressPolicy

/** Makes a source for all runs of a process, so that connections and verdicts outlive a batch. */
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
  // A zone id picks an interface of the machine.
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

/**
 * RFC 5214: an interface identifier of 5efe with or without the universal bit, then the IPv4
 * address.
 */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x0200)
}

function isWithin(address: Address, [network, bits]: Network): boolean {
  if (network instanceof ipaddr.IPv4) {
    return address instanceof ipaddr.IPv4 && address.match(network, bits)
  }
  return address instanceof ipaddr.IPv6 && address.match(network, bits)
}
