/** `outhook listen`, by the packed command against a stack. */

import { expect } from '@std/expect'
import { createClient } from '../../package/client/mod.ts'
import { createReceiver, type WebhookEvent } from '../../package/receive/mod.ts'
import { type ApiShop, startApiShop } from './_support/api_shop.ts'
import type { Program } from './_support/program.ts'

let shop: ApiShop

Deno.test.beforeAll(async () => {
  shop = await startApiShop()
})
Deno.test.afterAll(() => shop?.stop())

/** Publishes an event and returns its id. */
async function publish(type: string, data = '{}'): Promise<string> {
  const { stdout } = await shop.run('publish', type, '--data', data)
  return /[0-9a-f-]{36}/.exec(stdout)?.[0] ?? ''
}

/** Serves a receiver with the secret that the program prints. `port` 0: any. */
async function receive(program: Program, port: number): Promise<
  { events: WebhookEvent[]; server: Deno.HttpServer<Deno.NetAddr> }
> {
  const [, secret = ''] = await program.find(/verifies with this secret: (whsec_\S+)$/)
  const events: WebhookEvent[] = []
  const receiver = createReceiver({ secrets: [secret], handle: (one) => void events.push(one) })
  const server = Deno.serve({ hostname: '127.0.0.1', port, onListen: () => {} }, receiver.fetch)
  return { events, server }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  // SAFETY: a listener for TCP.
  return (listener.addr as Deno.NetAddr).port
}

async function rowsOf(table: 'endpoint' | 'subscription' | 'delivery'): Promise<number> {
  const { sql } = shop.outhook
  return (await sql`select from ${sql(`outbox.${table}`)}`).length
}

Deno.test('listen sends new events with a signature that verifies, and waits for a receiver that is down', async () => {
  await publish('order.paid', '{"id": 0}')
  const port = freePort()
  const url = `http://127.0.0.1:${port}/hook`
  await using program = shop.start(['listen', '--forward', url, '--count', '2'])
  await program.find(/Forwarding to/)
  const first = await publish('order.paid', '{"id": 1}')
  await program.find(/^The receiver does not respond \(ECONNREFUSED\)/)
  const { events, server } = await receive(program, port)
  try {
    await program.find(/^The receiver responds again/)
    const second = await publish('order.sent', '{"id": 2}')
    expect(await program.ended).toBe(0)
    expect(events.map(({ id, eventType, data }) => ({ id, eventType, data }))).toEqual([
      { id: first, eventType: 'order.paid', data: { id: 1 } },
      { id: second, eventType: 'order.sent', data: { id: 2 } },
    ])
    const shown = program.lines.filter((line) => /^(\d{4}-| )/.test(line))
    expect(shown).toEqual([
      expect.stringMatching(new RegExp(`^\\S+Z order\\.paid ${first} \\{"id": ?1\\}$`)),
      expect.stringMatching(/^ {2}204 in \d+ ms$/),
      expect.stringMatching(new RegExp(`^\\S+Z order\\.sent ${second} \\{"id": ?2\\}$`)),
      expect.stringMatching(/^ {2}204 in \d+ ms$/),
    ])
  } finally {
    await server.shutdown()
  }
})

Deno.test('listen leaves nothing in the project, however it ends, and touches no endpoint', async () => {
  const before = [await rowsOf('endpoint'), await rowsOf('subscription')]
  {
    await using program = shop.start(['listen', '--json'])
    await program.find(/^\{"kind":"ready"/)
    const id = await publish('order.killed')
    await program.find(new RegExp(id))
    expect([await rowsOf('endpoint'), await rowsOf('subscription')]).toEqual(before)
    // The end of this block kills it.
  }
  expect([await rowsOf('endpoint'), await rowsOf('subscription')]).toEqual(before)
  expect(await rowsOf('delivery')).toBe(0)
})

Deno.test('listen works with a token that may only read events, and shows only the chosen types', async () => {
  const { SUPABASE_URL: url = '', SUPABASE_SECRET_KEY: key = '' } = shop.env
  const client = createClient({ url, key, orgId: 'shop-7' })
  const body = { scopes: ['events:read' as const] }
  const { token } = await client.createPortalToken({ body })
  await client.publishEvent({ body: { type: 'order.paid', payload: { id: 1 } } })
  const args = ['listen', '--type', 'order.paid,user.*', '--since', '10', '--json', '--count', '2']
  const own = { OUTHOOK_TOKEN: token, SUPABASE_SECRET_KEY: '' }
  await using program = shop.start(args, own)
  await program.find(/"id":1/)
  // Of another organisation, and of another type.
  await publish('order.paid', '{"id": 2}')
  await client.publishEvent({ body: { type: 'order.sent', payload: { id: 3 } } })
  await client.publishEvent({ body: { type: 'user.new', payload: { id: 4 } } })
  expect(await program.ended).toBe(0)
  const said = program.lines.map((line) => JSON.parse(line))
  expect(said).toMatchObject([
    { kind: 'ready', secret: null, forward: null, types: ['order.paid', 'user.*'] },
    { kind: 'event', event: { type: 'order.paid', payload: { id: 1 } }, forwarded: null },
    { kind: 'event', event: { type: 'user.new', payload: { id: 4 } }, forwarded: null },
  ])

  const forbidden = await client.createPortalToken({ body: { scopes: ['endpoints:read'] } })
  await using refused = shop.start(['listen'], { ...own, OUTHOOK_TOKEN: forbidden.token })
  await refused.find(/events:read/)
  expect(await refused.ended).toBe(1)
})

Deno.test('listen keeps an event that is due later, and leaves out those for one endpoint', async () => {
  await using program = shop.start(['listen', '--json', '--count', '1'])
  await program.find(/"ready"/)
  const { id: endpoint } = await shop.outhook.createEndpoint('/one', { p_event_types: ['none'] })
  const { sql } = shop.outhook
  await sql`select outbox.publish('order.own', '{}', p_endpoint_id => ${endpoint})`
  await sql`select outbox.publish('order.later', '{}',
    p_deliver_at => pg_catalog.clock_timestamp() + interval '1 hour')`
  await program.find(/"kind":"later".*order\.later/)
  await publish('order.now')
  expect(await program.ended).toBe(0)
  const types = program.lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === 'event')
    .map(({ event }) => event.type)
  expect(types).toEqual(['order.now'])
})

Deno.test('listen --event sends one earlier event, and its exit code says whether it was accepted', async () => {
  const id = await publish('order.paid', '{"id": 5}')
  const answers = [500, 200]
  const server = Deno.serve(
    { hostname: '127.0.0.1', port: 0, onListen: () => {} },
    () => new Response('seen', { status: answers.shift() ?? 200 }),
  )
  try {
    const url = `http://127.0.0.1:${server.addr.port}/`
    const secret = `whsec_${btoa('y'.repeat(32))}`
    const args = ['listen', '--forward', url, '--event', id]
    const env = { ...shop.env, OUTHOOK_LISTEN_SECRET: secret }
    const first = await shop.project.runWith(env, ...args)
    expect([first.code, first.stderr]).toEqual([1, expect.stringContaining('LISTEN_SECRET')])
    expect(first.stderr).not.toContain(secret)
    expect(first.stdout).toMatch(/\n {2}500 in \d+ ms: seen\n$/)
    expect((await shop.project.runWith(env, ...args)).code).toBe(0)
  } finally {
    await server.shutdown()
  }
  const down = ['listen', '--forward', `http://127.0.0.1:${freePort()}/`, '--event', id]
  const nobody = await shop.project.runWith(shop.env, ...down)
  expect([nobody.code, nobody.stdout]).toEqual([
    1,
    expect.stringContaining('not sent: ECONNREFUSED'),
  ])
})

Deno.test('listen refuses wrong options, and an API that is not there, at once', async () => {
  const rows: [args: string[], env: Record<string, string>, code: number, says: RegExp][] = [
    [['--forward', 'localhost:3000'], {}, 2, /--forward takes a URL\. Example/],
    [['--type', 'order..paid'], {}, 2, /--type takes/],
    [['--since', 'yesterday'], {}, 2, /whole numbers/],
    [['--payload', 'odd'], {}, 2, /envelope, data/],
    [['--event', 'x', '--count', '1'], {}, 2, /--event sends one event/],
    [[], { OUTHOOK_LISTEN_SECRET: 'secret' }, 2, /OUTHOOK_LISTEN_SECRET/],
    [[], { OUTHOOK_TOKEN: 'no token' }, 1, /Authorization|JWT/],
    [['--function', 'none'], {}, 1, /404: check --url and --function/],
  ]
  for (const [args, env, code, says] of rows) {
    const ended = await shop.project.runWith({ ...shop.env, ...env }, 'listen', ...args)
    expect([args, ended.code, ended.stderr]).toEqual([args, code, expect.stringMatching(says)])
  }
})
