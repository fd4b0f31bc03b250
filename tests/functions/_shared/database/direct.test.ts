/** What a direct connection sends: a pooler in transaction mode may give each transaction another session. */

import { expect } from '@std/expect'
import { Buffer } from 'node:buffer'
import type { DispatchCall } from '../../../../functions/_shared/contract/contract.ts'
import { connectDirect } from '../../../../functions/_shared/database/direct.ts'
import { withMigrations } from '../../../_support/postgres.ts'

/** A relay in front of a server. It keeps what a client sends, and may stop passing on responses. */
interface Relay extends Disposable {
  readonly url: string
  /** What each read from a client had, after the messages that open a connection. */
  readonly sent: Uint8Array[]
  isSilent: boolean
  readonly clients: number
}

function startRelay(target: string): Relay {
  const { hostname, port } = new URL(target)
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  const open = new Set<Deno.Conn>()
  const sent: Uint8Array[] = []
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(listener.addr.port)
  let clients = 0
  const relay = {
    url: url.href,
    sent,
    isSilent: false,
    get clients(): number {
      return clients
    },
    [Symbol.dispose]: (): void => {
      listener.close()
      for (const one of open) close(one)
    },
  }

  async function pass(
    from: Deno.Conn,
    to: Deno.Conn,
    see: (bytes: Uint8Array) => boolean,
  ): Promise<void> {
    const buffer = new Uint8Array(65_536)
    try {
      for (let n = await from.read(buffer); n !== null; n = await from.read(buffer)) {
        const bytes = buffer.slice(0, n)
        if (see(bytes)) await to.write(bytes)
      }
    } catch {
      // One side has closed the connection.
    }
    for (const one of [from, to]) close(one)
  }

  async function accept(): Promise<void> {
    for await (const client of listener) {
      clients++
      const server = await Deno.connect({ hostname, port: Number(port) })
      for (const one of [client, server]) open.add(one)
      pass(client, server, (bytes) => {
        sent.push(bytes)
        return true
      })
      pass(server, client, () => !relay.isSilent)
    }
  }
  accept().catch(() => {})
  return relay
}

function close(connection: Deno.Conn): void {
  try {
    connection.close()
  } catch {
    // It is closed already.
  }
}

/** The types of the messages in what was read at once: a letter each, followed by a length. */
function typesOf(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let types = ''
  for (let at = 0; at < bytes.length; at += 1 + view.getUint32(at + 1)) {
    types += String.fromCharCode(view.getUint8(at))
  }
  return types
}

function callOf(run: string, seq: number): DispatchCall {
  return { run, seq, results: [], limit: 10, kind: 'worker', ended: false, known: {}, held: 0 }
}

Deno.test('connectDirect() sends a call with its COMMIT, without a named statement, and waits for a limited time', async () => {
  await withMigrations(async (pg) => {
    using relay = startRelay(pg.dbUrl)
    const database = connectDirect({ url: relay.url, timeoutMs: 1_000 })
    try {
      const run = crypto.randomUUID()
      expect(await database.dispatch(callOf(run, 1))).toMatchObject({ ok: true })
      const { clients } = relay
      relay.sent.length = 0
      relay.isSilent = true
      expect(await database.dispatch(callOf(run, 2))).toMatchObject({
        ok: false,
        fault: {
          kind: 'temporary',
          message: expect.stringContaining('no response within 1000 ms'),
        },
      })
      const sent = new Uint8Array(Buffer.concat(relay.sent))
      // Query (begin), Parse, Describe, Bind, Execute, Sync, Query (commit); X ends the session.
      expect(typesOf(sent)).toMatch(/^QPDBESQX?$/)
      // Parse begins with the name of its statement: none.
      expect(new TextDecoder('latin1').decode(sent)).toMatch(/P[^]{4}\0\s*select outbox\.dispatch/)

      relay.isSilent = false
      expect(await database.dispatch(callOf(run, 2))).toMatchObject({ ok: true })
      expect(relay.clients).toBe(clients + 1)
    } finally {
      await database.close()
    }
  })
})
