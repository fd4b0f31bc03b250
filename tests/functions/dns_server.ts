import { Buffer } from 'node:buffer'
import { createSocket } from 'node:dgram'
import type { Resolve, ResolvedAddress } from '../../functions/_shared/connect/share_lookups.ts'

export type DnsServer = {
  /** How many questions of each type came: `A` is 1, `AAAA` is 28. */
  asked: Record<number, number>
  /** Asks this server, as the system's resolver asks its own. */
  resolve: Resolve
  close(): Promise<void>
}

/** Gives the IPv4 addresses of a name for the `n`th question about it, from 1; null when there is no such name. */
export type Zone = (name: string, n: number) => readonly string[] | null

/** Starts a DNS server (RFC 1035, over UDP) on the loopback address whose answers nobody may keep: their TTL is 0. */
export async function startDnsServer(zone: Zone): Promise<DnsServer> {
  const asked: DnsServer['asked'] = {}
  const times = new Map<string, number>()
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = readQuestion(query)
    asked[type] = (asked[type] ?? 0) + 1
    let addresses: readonly string[] | null = []
    if (type === 1) {
      const n = (times.get(name) ?? 0) + 1
      times.set(name, n)
      addresses = zone(name, n)
    }
    socket.send(answer(query.subarray(0, end), addresses), port, address)
  })
  await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done))
  const nameServer = { ipAddr: '127.0.0.1', port: socket.address().port }

  async function records(name: string, type: 'A' | 'AAAA'): Promise<ResolvedAddress[]> {
    try {
      const found = await Deno.resolveDns(name, type, { nameServer })
      return found.map((address) => ({ address, family: type === 'A' ? 4 : 6 }))
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return []
      throw error
    }
  }

  async function resolve(hostname: string): Promise<ResolvedAddress[]> {
    // The dot at the end keeps search domains away.
    const name = `${hostname}.`
    const found = [...await records(name, 'A'), ...await records(name, 'AAAA')]
    if (found.length > 0) return found
    throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
  }

  return {
    asked,
    resolve,
    close: () => new Promise((done) => socket.close(() => done())),
  }
}

const headBytes = 12

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = headBytes
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** `question` is the query up to the end of its one question; what stood behind it is not repeated. */
function answer(question: Buffer, addresses: readonly string[] | null): Buffer {
  const head = Buffer.from(question)
  // An authoritative answer with recursion; 3 says that there is no such name.
  head.writeUInt16BE(0x8580 | (addresses === null ? 3 : 0), 2)
  head.writeUInt16BE(addresses?.length ?? 0, 6)
  head.writeUInt32BE(0, 8)
  const records = (addresses ?? []).map((address) =>
    // The name of the question, A, IN, TTL 0, four bytes.
    Buffer.from([0xc0, headBytes, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)])
  )
  return Buffer.concat([head, ...records])
}
