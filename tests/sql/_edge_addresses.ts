import ipaddr from 'ipaddr.js'

/**
 * The first and last address of every special range that the library knows and of ours beside it, and their neighbours
 * outside: where two lists of ranges differ, they differ on one of these.
 */
export function edgeAddresses(): string[] {
  const v4 = ranges(ipaddr.IPv4.prototype).flatMap(([base, bits]) =>
    edges(base.toByteArray(), bits).map((bytes) => bytes.join('.'))
  )
  const v6 = [...ranges(ipaddr.IPv6.prototype), ...ours].flatMap(([base, bits]) =>
    edges(base.toByteArray(), bits).map((bytes) => new ipaddr.IPv6(bytes).toNormalizedString())
  )
  return [...new Set([...v4, ...v6, '168.63.129.15', '168.63.129.16', '168.63.129.17'])]
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

const ours: Range[] = ['2000::/3', '2001:4860::5efe:0:0/96', '2001:4860::200:5efe:0:0/96']
  .map((cidr) => ipaddr.parseCIDR(cidr))

/** The library holds one range or several under each name. */
function ranges(prototype: object): Range[] {
  // SAFETY: the library has it there, though its types do not; without it the test's count of addresses fails.
  const { SpecialRanges } = prototype as { SpecialRanges: Record<string, unknown> }
  return Object.values(SpecialRanges).flatMap((entry) => {
    // SAFETY: ipaddr.js documents a pair or an array of pairs.
    const pairs = entry as Range | Range[]
    return Array.isArray(pairs[0]) ? pairs as Range[] : [pairs as Range]
  })
}

function edges(bytes: number[], bits: number): number[][] {
  const first = BigInt('0x' + bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(''))
  const size = 1n << BigInt(bytes.length * 8 - bits)
  const end = 1n << BigInt(bytes.length * 8)
  return [first - 1n, first, first + size - 1n, first + size]
    .filter((at) => at >= 0n && at < end)
    .map((at) => bytesOf(at, bytes.length))
}

function bytesOf(value: bigint, length: number): number[] {
  const hex = value.toString(16).padStart(length * 2, '0')
  return Array.from({ length }, (_, at) => Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16))
}
