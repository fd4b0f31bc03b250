/** ntfy end to end: core, api and ntfy.sql as migrations, the real loop, and a server of that protocol. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { readFunctionConfigs } from '../../../supabase/local/functions/mod.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { migrationPath } from '../../../supabase/local/schema/migration.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { type Stack, startStack } from '../../../supabase/local/stack.ts'
import { databaseFolder } from '../../_support/folder.ts'
import { patienceMs } from '../../_support/patience.ts'
import { copyPrepared } from '../../_support/prepared.ts'
import { copyProject } from '../../_support/project_copy.ts'
import { startWorker } from '../../_support/worker_process.ts'
import { modules } from '../_support/modules.ts'
import { ntfyError, type NtfyServer, startNtfy } from './_server.ts'

const folder = join(projectRoot, 'tests/modules/example_kind')
const stopping = new AsyncDisposableStack()
const log: string[] = []
let stack: Stack
let sql: Sql
let ntfy: NtfyServer

Deno.test.beforeAll(async () => {
  const project = stopping.use(await copyProject())
  for (const [at, { name }] of modules.entries()) {
    if (name !== 'core' && name !== 'api') {
      await Deno.remove(join(project.root, migrationPath(at, name)))
    }
  }
  const installed = join(project.root, 'tests/modules/example_kind')
  await Deno.mkdir(installed, { recursive: true })
  for (const name of ['sender.ts', 'deliver.ts']) {
    await Deno.copyFile(join(folder, name), join(installed, name))
  }
  await Deno.copyFile(
    join(folder, 'ntfy.sql'),
    join(project.root, 'supabase/migrations/20260301000000_ntfy.sql'),
  )
  const dataDir = databaseFolder()
  stopping.defer(() => Deno.remove(dataDir, { recursive: true }))
  await copyPrepared(dataDir, 'platform')
  const configs = await readFunctionConfigs(project.root)
  // What `entrypoint` of [functions.deliver] says in the config.toml of an installation with ntfy.
  const functions = configs.filter(({ name }) => name === 'api' || name === 'deliver')
    .map((config) =>
      config.name === 'api' ? config : { ...config, entrypoint: join(installed, 'deliver.ts') }
    )
  stack = await startStack({
    projectDir: project.root,
    dataDir,
    ports: 'free',
    fsync: false,
    functions,
    ticksAtOnce: true,
    log: (line) => log.push(line),
  })
  stopping.defer(() => stack.stop())
  ntfy = stopping.use(startNtfy())
  sql = postgres(stack.dbUrl, { max: 4, onnotice: () => {} })
  stopping.defer(() => sql.end({ timeout: 1 }))
})
Deno.test.afterAll(() => stopping.disposeAsync())

async function createEndpoint(topic: string, token = 'tk_good'): Promise<string> {
  ntfy.tokens.add(token)
  const [row] = await sql`
    select outbox.create_ntfy_endpoint(${ntfy.url}, ${topic}, ${token},
      p_event_types => array[${`${topic}.*`}]) ->> 'id' as id`
  return row?.id
}

async function publish(type: string, data: object = {}): Promise<string> {
  const [row] = await sql`select outbox.publish(${type}, ${sql.json({ ...data })}) as id`
  return row?.id
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  if (!await waitUntil(holds, { timeoutMs: patienceMs })) {
    throw new Error(`${what}: ${log.join('\n')}`)
  }
}

/** The attempts of an event, once there are `count`. */
async function attemptsOf(event: string, count: number): Promise<Record<string, unknown>[]> {
  const read = (): Promise<Record<string, unknown>[]> =>
    sql`
      select a.attempt, a.outcome, a.status, a.error_class, a.error, a.response,
        extract(epoch from a.next_retry_at - a.at)::float8 as wait_s
      from outbox.attempt a where a.event_id = ${event} and a.kind = 'attempt' order by a.attempt`
  await until(`${count} attempts`, async () => (await read()).length >= count)
  return await read()
}

async function statusOf(endpoint: string): Promise<unknown[]> {
  const [row] = await sql`
    select e.status, e.status_reason from outbox.endpoint e where e.id = ${endpoint}`
  return [row?.status, row?.status_reason]
}

async function call(
  route: string,
  { body, token }: { body?: unknown; token?: string } = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const [method = '', path = ''] = route.split(' ')
  const caller = token === undefined
    ? { apikey: stack.keys.secretKey, 'x-org-id': 'default' }
    : { authorization: `Bearer ${token}` }
  const response = await fetch(`${stack.apiUrl}/functions/v1/api/v1${path}`, {
    method,
    headers: { ...caller, 'content-type': 'application/json' },
    ...body === undefined ? {} : { body: JSON.stringify(body) },
  })
  return { status: response.status, body: await response.json() }
}

Deno.test('an event comes as a message to the topic', async () => {
  await createEndpoint('orders')
  const event = await publish('orders.paid', { amount: 7 })
  expect(await attemptsOf(event, 1)).toMatchObject([{ outcome: 'delivered', status: 200 }])
  expect(ntfy.messages.filter(({ topic }) => topic === 'orders'))
    .toEqual([{ topic: 'orders', title: 'orders.paid', message: '{"amount": 7}', priority: 3 }])
})

Deno.test('a long event is cut to what the server takes', async () => {
  await createEndpoint('long')
  await attemptsOf(await publish('long.text', { text: 'é'.repeat(3_000) }), 1)
  const [message] = ntfy.messages.filter(({ topic }) => topic === 'long')
  expect(message?.message).toMatch(/^\{"text": "é+$/)
  expect(new TextEncoder().encode(message?.message).length).toBeGreaterThan(4_094)
})

Deno.test('a temporary failure is retried by the schedule of the kind', async () => {
  await createEndpoint('retried')
  ntfy.next.push(ntfyError(50001, 'internal server error'))
  const attempts = await attemptsOf(await publish('retried.once'), 2)
  expect(attempts).toMatchObject([
    { attempt: 1, outcome: 'failed', status: 500, error_class: 'status' },
    { attempt: 2, outcome: 'delivered', status: 200 },
  ])
  // 2 s with jitter. A webhook waits at most 1.5 s.
  const waitS = Number(attempts[0]?.wait_s)
  expect(waitS >= 1 && waitS <= 3).toBe(true)
})

Deno.test('a response that is not one of ntfy is a failure with a hint of its own', async () => {
  await createEndpoint('portal')
  ntfy.next.push(new Response('<html>', { headers: { 'content-type': 'text/html' } }))
  const [first] = await attemptsOf(await publish('portal.seen'), 2)
  expect(first).toMatchObject({
    outcome: 'failed',
    status: 200,
    error_class: 'ntfy.response',
    response: '<html>',
  })
  const [row] = await sql`
    select h.hint from outbox.error_hint h where h.error_class = 'ntfy.response'`
  expect(row?.hint).toContain('check that the URL')
})

Deno.test('a code that is final makes a dead letter at the first attempt', async () => {
  const endpoint = await createEndpoint('final')
  ntfy.next.push(ntfyError(40017, 'invalid request: request body must be message JSON'))
  const event = await publish('final.one')
  await attemptsOf(event, 1)
  const [letter] = await sql`
    select x.error, x.retry_count, x.why from outbox.dead_letter x where x.event_id = ${event}`
  expect(letter).toMatchObject({ retry_count: 1 })
  expect(await statusOf(endpoint)).toEqual(['enabled', null])
})

Deno.test('an endpoint whose topic is closed is held, and the tick serves it again', async () => {
  const endpoint = await createEndpoint('closed')
  ntfy.closed.add('closed')
  const event = await publish('closed.once')
  expect(await attemptsOf(event, 1)).toMatchObject([{
    outcome: 'failed',
    status: 403,
    response: expect.stringContaining('40301'),
  }])
  await until('it is held', async () => (await statusOf(endpoint))[0] === 'disabled')
  expect(await sql`select from outbox.delivery where event_id = ${event}`).toHaveLength(1)
  ntfy.closed.delete('closed')
  await sql`select outbox.set_setting('ntfy.resume_after_s', '1')`
  try {
    expect((await attemptsOf(event, 2))[1]).toMatchObject({ outcome: 'delivered' })
  } finally {
    await sql`select outbox.set_setting('ntfy.resume_after_s', '3600')`
  }
  expect(await statusOf(endpoint)).toEqual(['enabled', null])
})

Deno.test('an endpoint without access waits for ntfy.resume_after_s, or for set_ntfy_token()', async () => {
  const endpoint = await createEndpoint('locked', 'tk_old')
  ntfy.tokens.delete('tk_old')
  const event = await publish('locked.once')
  await attemptsOf(event, 1)
  await until('it is held', async () => (await statusOf(endpoint))[0] === 'disabled')
  await sql`select outbox.resume_held_ntfy(now() + interval '3590 s', 20)`
  expect((await statusOf(endpoint))[0]).toBe('disabled')
  ntfy.tokens.add('tk_new')
  await sql`select outbox.set_ntfy_token(${endpoint}, 'tk_new')`
  await sql`select outbox.resume_endpoint(${endpoint})`
  expect((await attemptsOf(event, 2))[1]).toMatchObject({ outcome: 'delivered' })
})

Deno.test('the API creates, shows and changes such an endpoint', async () => {
  ntfy.tokens.add('tk_api')
  const body = {
    kind: 'ntfy',
    url: ntfy.url,
    config: { topic: 'http', priority: 5 },
    credentials: { token: 'tk_api' },
    eventTypes: ['http.*'],
    retry: { strategy: 'fixed', baseDelay: 2 },
    maxInFlight: 2,
  }
  const created = await call('POST /endpoints', { body })
  expect(created).toMatchObject({
    status: 201,
    body: {
      kind: 'ntfy',
      url: ntfy.url,
      broker: null,
      config: { topic: 'http', priority: 5 },
      maxInFlight: 2,
    },
  })
  expect(created.body).not.toHaveProperty('secret')
  const path = `/endpoints/${created.body.id}`
  expect(await call(`GET ${path}/retry-config`)).toMatchObject({ status: 200 })
  await attemptsOf(await publish('http.one'), 1)
  const changed = await call(`PATCH ${path}`, { body: { config: { priority: 1 }, quantum: 3 } })
  expect(changed).toMatchObject({
    status: 200,
    body: { config: { topic: 'http', priority: 1 }, quantum: 3 },
  })
  await attemptsOf(await publish('http.two'), 1)
  expect(ntfy.messages.filter(({ topic }) => topic === 'http').map(({ priority }) => priority))
    .toEqual([5, 1])

  const invalid: [more: Record<string, unknown>, field: string][] = [
    [{ config: { topic: 'a b' } }, 'config.topic'],
    [{ config: { topic: 'http', color: 'red' } }, 'config.color'],
    [{ credentials: undefined }, 'credentials.token'],
    [{ secret: 'whsec_x' }, 'secret'],
    [{ broker: { topic: 'http' } }, 'broker'],
    [{ kind: 'unknown' }, 'kind'],
    [{ kind: 'webhook', credentials: undefined }, 'config'],
  ]
  for (const [more, field] of invalid) {
    const refused = await call('POST /endpoints', { body: { ...body, ...more } })
    expect([more, refused]).toMatchObject([more, { status: 400, body: { field } }])
  }
})

Deno.test('without a secret key nobody creates it or sends its token to another server', async () => {
  const token = await stack.keys.signUserJwt({
    iss: `${stack.apiUrl}/auth/v1`,
    app_metadata: { org_id: 'default', outhook_scopes: ['all'] },
  })
  const body = {
    kind: 'ntfy',
    url: ntfy.url,
    config: { topic: 'theirs' },
    credentials: { token: 'tk_theirs' },
    eventTypes: ['theirs.*'],
  }
  expect(await call('POST /endpoints', { token, body })).toMatchObject({ status: 403 })
  const bare = { kind: 'ntfy', url: ntfy.url }
  expect(await call('POST /endpoints', { token, body: bare })).toMatchObject({ status: 403 })
  const { body: { id } } = await call('POST /endpoints', { body })
  for (const change of [{ config: { topic: 'other' } }, { credentials: { token: 'tk_a' } }]) {
    expect(await call(`PATCH /endpoints/${id}`, { token, body: change })).toMatchObject({
      status: 403,
    })
  }
  expect(await call(`PATCH /endpoints/${id}`, { token, body: { url: 'https://example.com' } }))
    .toMatchObject({ status: 403 })
  expect(await call(`PATCH /endpoints/${id}`, { body: { url: 'https://example.com' } }))
    .toMatchObject({ status: 400, body: { field: 'url' } })
  const moved = { url: `${ntfy.url}/moved`, credentials: { token: 'tk_theirs' } }
  expect(await call(`PATCH /endpoints/${id}`, { body: moved }))
    .toMatchObject({ status: 200, body: { url: moved.url } })
})

Deno.test('a worker with the sender delivers too', async () => {
  await createEndpoint('worked')
  await using worker = disposable(
    startWorker(stack.dbUrl, {}, 'tests/modules/example_kind/worker.ts'),
  )
  await until(
    'it has started',
    () => Promise.resolve(worker.log.some((line) => line.includes('worker started'))),
  )
  // Only the worker is left.
  await stack.functions.stop()
  const event = await publish('worked.one')
  expect(await attemptsOf(event, 1)).toMatchObject([{ outcome: 'delivered' }])
})

Deno.test('no token is in a log', () => {
  expect(log.join('\n')).not.toMatch(/tk_\w/)
})

function disposable(worker: ReturnType<typeof startWorker>): typeof worker & AsyncDisposable {
  return {
    ...worker,
    async [Symbol.asyncDispose](): Promise<void> {
      worker.kill('SIGTERM')
      await worker.ended
    },
  }
}
