import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** What may be connected to, as the operator has set it. */
export type AddressPolicy = {
  /** Plain http, for local development. */
  allowHttp: boolean
  /** Networks that are allowed although they are not public, as CIDR text. */
  allowCidrs: readonly string[]
}

/** Public ranges that reach a host's or a cloud's inside all the same. */
const insidePublic = [
  // Azure's wire server: metadata and DNS of the virtual machine, on a public address.
  ['168.63.129.16', 32],
] as const

/** All IPv6 addresses that are in use on the Internet; the rest is special or not given out. */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/**
 * Whether an IP address may be connected to: it must be public, or in a network that the operator allows. IPv6 forms that
 * carry an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo, ISATAP) are not public, whichever they carry.
 */
export function isAllowedAddress(text: string, policy: AddressPolicy): boolean {
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return false
  const address = ipaddr.parse(text)
  if (policy.allowCidrs.some((cidr) => isWithin(address, cidr))) return true
  return address.kind() === 'ipv4' ? isPublicV4(address) : isPublicV6(address)
}

function isPublicV4(address: Address): boolean {
  if (insidePublic.some(([network, bits]) => isWithin(address, `${network}/${bits}`))) return false
  return address.range() === 'unicast'
}

function isPublicV6(address: Address): boolean {
  if (!(address instanceof ipaddr.IPv6)) return false
  if (!address.match(globalUnicast) || address.range() !== 'unicast') return false
  return !isIsatap(address)
}

/** RFC 5214: an interface identifier of 5efe with or without the universal bit, then the IPv4 address. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x0200)
}

function isWithin(address: Address, cidr: string): boolean {
  if (!ipaddr.isValidCIDR(cidr)) return false
  const [network, bits] = ipaddr.parseCIDR(cidr)
  if (network instanceof ipaddr.IPv4) {
    return address instanceof ipaddr.IPv4 && address.match(network, bits)
  }
  return address instanceof ipaddr.IPv6 && address.match(network, bits)
}
