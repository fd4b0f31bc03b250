/** What SQL sees of a call, what it may write, and how long it may take. */

import { expect } from '@std/expect'
import {
  type FixtureClient,
  mustRun,
  startTestGateway,
  type TestGateway,
} from './fixtures/gateway.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs } from '../_support/patience.ts'

let gateway: TestGateway
let client: FixtureClient

Deno.test.beforeAll(async () => {
  gateway = await startTestGateway()
  client = gateway.client(gateway.keys.secretKey)
})
Deno.test.afterAll(async () => {
  await gateway.stop()
})

async function settings(
  names: string[],
  headers: Record<string, string> = {},
): Promise<Record<string, string>> {
  const response = await gateway.rpc('settings', {
    body: JSON.stringify({ p_names: names }),
    headers,
  })
  expect(response.status).toBe(200)
  return await response.json()
}

async function asAdmin(sql: string): Promise<void> {
  expect(await gateway.pg.psql(sql, { as: 'supabase_admin' })).toMatchObject({ code: 0 })
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  if (!await waitUntil(holds, { timeoutMs: patienceMs })) throw new Error('it never came to hold')
}

async function itemExists(id: number): Promise<boolean> {
  return await mustRun(gateway.pg, `select count(*) from fixture.item where id = ${id}`) === '1'
}

Deno.test('a call sees its request', async () => {
  const seen = await settings(
    ['search_path', 'request.method', 'request.path', 'request.headers', 'request.cookies'],
    { cookie: 'a=1; b=x=y', 'X-Outhook': 'Yes' },
  )
  expect(seen).toMatchObject({
    search_path: '"fixture", public, extensions',
    'request.method': 'POST',
    'request.path': '/rpc/settings',
  })
  expect(JSON.parse(seen['request.cookies'] ?? '')).toEqual({ a: '1', b: 'x=y' })
  const headers = JSON.parse(seen['request.headers'] ?? '')
  expect(headers).toMatchObject({
    'x-outhook': 'Yes',
    authorization: `Bearer ${gateway.keys.serviceRoleKey}`,
  })
  expect(headers).not.toHaveProperty('cookie')
})

Deno.test('a call takes the preferred time zone, and ignores one that does not exist', async () => {
  const zone = async (prefer: string): Promise<string | undefined> =>
    (await settings(['timezone'], { prefer })).timezone
  expect(await zone('timezone=Europe/Paris')).toBe('Europe/Paris')
  expect(await zone('timezone=Mars/Base')).not.toBe('Mars/Base')
})

Deno.test('a call leaves nothing of itself in its connection', async () => {
  const token = await gateway.keys.signUserJwt({ sub: 'first' })
  await settings(['role'], { authorization: `Bearer ${token}`, prefer: 'timezone=Asia/Tokyo' })
  const next = await settings(['request.jwt.claims', 'timezone', 'role'])
  expect(next.role).toBe('service_role')
  expect(next['request.jwt.claims']).not.toContain('first')
  expect(next.timezone).not.toBe('Asia/Tokyo')
})

Deno.test('a call is limited as its role is: the API role 8 s, anon 3 s, a function by itself', async () => {
  const limit = async (key: string): Promise<string | undefined> =>
    (await settings(['statement_timeout'], { apikey: key })).statement_timeout
  expect(await limit(gateway.keys.secretKey)).toBe('8s')
  expect(await limit(gateway.keys.publishableKey)).toBe('3s')
  expect((await settings(['lock_timeout'])).lock_timeout).toBe('8s')
  expect((await client.rpc('patient')).data).toBe('20s')
})

Deno.test('a call sees a role setting within a second', async () => {
  const limitBecomes = (wanted: string): Promise<void> =>
    until(async () => (await settings(['statement_timeout'])).statement_timeout === wanted)
  await mustRun(gateway.pg, `alter role service_role set statement_timeout = '7s'`)
  await limitBecomes('7s')
  await mustRun(gateway.pg, 'alter role service_role reset statement_timeout')
  await limitBecomes('8s')
})

Deno.test('a call that takes too long ends with 57014, and the next one is served', async () => {
  const { status, error } = await client.rpc('hasty')
  expect([status, error?.code]).toEqual([500, '57014'])
  expect((await client.rpc('add', { p_a: 1 })).data).toBe(11)
})

Deno.test('a function asks for its isolation level', async () => {
  expect((await client.rpc('serial')).data).toBe('serializable')
})

Deno.test('a call commits what it wrote, and an error undoes it', async () => {
  expect((await client.rpc('put', { p_id: 1 })).data).toBe(1)
  expect(await itemExists(1)).toBe(true)
  const bad = await client.rpc('put_many', { p_from: 0, p_to: 1 })
  expect([bad.status, bad.error?.code]).toEqual([409, '23505'])
  expect(await itemExists(0)).toBe(false)
})

Deno.test('a call reports an error that only the commit finds', async () => {
  const { status, error } = await client.rpc('put_orphan')
  expect([status, error?.code]).toEqual([409, '23503'])
  await expectAnswers(100)
})

Deno.test('a GET and a STABLE function may not write', async () => {
  const get = await client.rpc('put', { p_id: 11 }, { get: true })
  expect([get.status, get.error?.code]).toEqual([405, '25006'])
  const stable = await gateway.rpc('put_stable', { body: '{"p_id":12}' })
  // Postgres itself refuses an INSERT in a function that is not VOLATILE, before READ ONLY does.
  expect((await stable.json()).message).toContain(
    'INSERT is not allowed in a non-volatile function',
  )
  const readOnly = await settings(['transaction_read_only'])
  expect(readOnly.transaction_read_only).toBe('on')
})

Deno.test('Prefer: tx=rollback counts only where the API role allows it', async () => {
  const put = async (id: number): Promise<string | null> => {
    const response = await gateway.rpc('put', {
      body: JSON.stringify({ p_id: id }),
      headers: { prefer: 'tx=rollback' },
    })
    expect([response.status, await response.json()]).toEqual([200, id])
    return response.headers.get('preference-applied')
  }
  expect(await put(21)).toBe(null)
  expect(await itemExists(21)).toBe(true)
  await asAdmin(`alter role authenticator set pgrst.db_tx_end = 'commit-allow-override'`)
  // What is known of each function is half a second old at most, so this one is asked.
  let spare = 1_000
  const mayRollBack = async (): Promise<boolean> => await put(spare++) === 'tx=rollback'
  await until(mayRollBack)
  expect(await put(22)).toBe('tx=rollback')
  expect(await itemExists(22)).toBe(false)
  await asAdmin('alter role authenticator reset pgrst.db_tx_end')
  await until(async () => !await mayRollBack())
})

Deno.test('a call whose connection dies is a 503, and the next one gets another', async () => {
  const { status, error } = await client.rpc('end_backend')
  expect([status, error?.code]).toEqual([503, 'PGRST000'])
  await expectAnswers(100)
})

Deno.test('calls side by side keep apart', async () => {
  await expectAnswers(500)
})

/** So many calls at once use every connection. */
async function expectAnswers(calls: number): Promise<void> {
  const answers = await Promise.all(
    Array.from({ length: calls }, (_, n) => client.rpc('add', { p_a: n, p_b: n })),
  )
  expect(answers.map(({ data }) => data)).toEqual(Array.from({ length: calls }, (_, n) => 2 * n))
}
