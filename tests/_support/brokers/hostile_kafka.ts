import { Buffer } from 'node:buffer'

/** The numbers of Kafka's requests that a producer sends. */
export const requestKey = {
  produce: 0,
  metadata: 3,
  handshake: 17,
  versions: 18,
  authenticate: 36,
} as const

/** Part of a response: a number of so many bytes, a text with its length before it, or bytes. */
type Part = Uint8Array | string | { int8: number } | { int16: number } | { int32: number } | {
  int64: number
}

/** What a broker writes for a request: the parts of the response, or bytes that are no response. */
export type KafkaAnswer = Part[] | { raw: Uint8Array }

/** A broker of Kafka's protocol that answers each request as it is told to. */
export interface HostileKafka extends Disposable {
  readonly port: number
  /** The requests in their order, by their numbers. */
  readonly requests: number[]
}

/**
 * Starts a broker that knows only the versions which a test needs: metadata 5, handshake 1 and authenticate 0.
 * A request without an answer gets none.
 */
export function startHostileKafka(
  answers: Record<number, (body: Uint8Array) => KafkaAnswer | null>,
  hostname = '127.0.0.1',
): HostileKafka {
  const listener = Deno.listen({ hostname, port: 0 })
  const { port } = listener.addr
  const requests: number[] = []
  const open = new Set<Deno.Conn>()
  void accept()

  async function accept(): Promise<void> {
    for await (const conn of listener) {
      open.add(conn)
      // A client that closes is no failure of the test.
      void serve(conn).catch(() => {})
    }
  }

  async function serve(conn: Deno.Conn): Promise<void> {
    let rest = Buffer.alloc(0)
    for await (const chunk of conn.readable) {
      rest = Buffer.concat([rest, chunk])
      while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
        const request = rest.subarray(4, 4 + rest.readInt32BE(0))
        rest = rest.subarray(4 + request.length)
        const key = request.readInt16BE(0)
        requests.push(key)
        const answer = key === requestKey.versions
          ? versions
          : answers[key]?.(request.subarray(10 + request.readInt16BE(8))) ?? null
        if (answer !== null) await writeAll(conn, framed(answer, request.readInt32BE(4)))
      }
    }
  }

  return {
    port,
    requests,
    [Symbol.dispose]: () => {
      listener.close()
      for (const conn of open) {
        try {
          conn.close()
        } catch {
          // Its stream has closed it.
        }
      }
    },
  }
}

/** Metadata of one broker, for one topic with one partition. */
export function metadataOf(host: string, port: number, topic: string): Part[] {
  return [
    { int32: 0 },
    ...[{ int32: 1 }, { int32: 1 }, host, { int32: port }, { int16: -1 }],
    ...['cluster', { int32: 1 }],
    ...[{ int32: 1 }, { int16: 0 }, topic, { int8: 0 }],
    ...[{ int32: 1 }, { int16: 0 }, { int32: 0 }, { int32: 1 }],
    ...[{ int32: 1 }, { int32: 1 }, { int32: 1 }, { int32: 1 }, { int32: 0 }],
  ]
}

/** The mechanisms that a broker offers. */
export function mechanisms(...names: string[]): Part[] {
  return [{ int16: 0 }, { int32: names.length }, ...names]
}

/** The bytes of one step of a login. */
export function authenticated(text: string): Part[] {
  return [{ int16: 0 }, { int16: -1 }, { int32: Buffer.byteLength(text) }, Buffer.from(text)]
}

const versions: Part[] = [
  { int16: 0 },
  { int32: 5 },
  ...[[0, 7], [3, 5], [17, 1], [18, 2], [36, 0]].flatMap(([key = 0, most = 0]) => {
    return [{ int16: key }, { int16: most }, { int16: most }]
  }),
  { int32: 0 },
]

/** The response with its length and the number of its request. */
function framed(answer: KafkaAnswer, correlation: number): Uint8Array {
  if ('raw' in answer) return answer.raw
  const body = Buffer.concat([{ int32: correlation }, ...answer].map(bytesOf))
  return Buffer.concat([bytesOf({ int32: body.length }), body])
}

export function bytesOf(part: Part): Buffer {
  if (part instanceof Uint8Array) return Buffer.from(part)
  if (typeof part === 'string') {
    return Buffer.concat([bytesOf({ int16: Buffer.byteLength(part) }), Buffer.from(part)])
  }
  const bytes = Buffer.alloc('int8' in part ? 1 : 'int16' in part ? 2 : 'int32' in part ? 4 : 8)
  if ('int8' in part) bytes.writeInt8(part.int8)
  else if ('int16' in part) bytes.writeInt16BE(part.int16)
  else if ('int32' in part) bytes.writeInt32BE(part.int32)
  else bytes.writeBigInt64BE(BigInt(part.int64))
  return bytes
}

async function writeAll(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at))
}
