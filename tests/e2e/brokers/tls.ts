import type { TestCertificates } from '../../_support/brokers/certificates.ts'

/** `127.0.0.1` as a broker names itself: its length, then the text; its port follows in four bytes. */
const self = [0, 9, ...new TextEncoder().encode('127.0.0.1')]

/**
 * TLS in front of a broker that speaks none: forwards a free port to `to`, and puts its own port in
 * place of that one where the broker names itself.
 */
export function startTlsFront(
  to: number,
  { certFile, keyFile }: TestCertificates,
): Disposable & { port: number } {
  const listener = Deno.listenTls({
    hostname: '127.0.0.1',
    port: 0,
    cert: Deno.readTextFileSync(certFile),
    key: Deno.readTextFileSync(keyFile),
  })
  const { port } = listener.addr
  void accept()

  async function accept(): Promise<void> {
    try {
      for await (const conn of listener) void forward(conn).catch(() => {})
    } catch {
      // A handshake that the client gave up.
      void accept()
    }
  }

  async function forward(conn: Deno.TlsConn): Promise<void> {
    await conn.handshake()
    const far = await Deno.connect({ hostname: '127.0.0.1', port: to })
    const rename = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => controller.enqueue(renamed(chunk)),
    })
    await Promise.all([
      conn.readable.pipeTo(far.writable),
      far.readable.pipeThrough(rename).pipeTo(conn.writable),
    ])
  }

  function renamed(chunk: Uint8Array): Uint8Array {
    for (let at = 0; at + self.length + 4 <= chunk.length; at++) {
      if (!self.every((byte, n) => chunk[at + n] === byte)) continue
      const view = new DataView(chunk.buffer, chunk.byteOffset + at + self.length, 4)
      if (view.getUint32(0) === to) view.setUint32(0, port)
    }
    return chunk
  }

  return { port, [Symbol.dispose]: () => listener.close() }
}
