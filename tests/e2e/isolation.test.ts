/** Tests the README's promise, and that a worker survives errors of the database. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { retryAtOnce } from '../_support/first_try.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startWorker, type WorkerProcess } from '../_support/worker_process.ts'

let outhook: TestOuthook
let worker: WorkerProcess

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({
    functions: [],
    also: { poison: ({ answer }) => answer(200, 'POISON') },
  })
  worker = startWorker(outhook.stack.dbUrl)
})
Deno.test.afterAll(async () => {
  // The worker would wait for what hangs until its timeout of a minute.
  await outhook?.receiver.close()
  worker?.kill('SIGTERM')
  await worker?.ended
  await outhook?.stop()
})

function requestsAt(path: string): number {
  return outhook.receiver.received.filter((request) => request.path === path).length
}

async function comeTo(path: string, count: number): Promise<void> {
  const come = await waitUntil(() => requestsAt(path) >= count, { timeoutMs: patienceMs })
  expect({ path, come, n: requestsAt(path) }).toEqual({ path, come: true, n: count })
}

/** Publishes so many events in one call. */
async function publishMany(type: string, count: number): Promise<void> {
  await outhook.sql`
    select outbox.publish_many((
      select jsonb_agg(jsonb_build_object('type', ${type}::text, 'payload', jsonb_build_object('n', n)))
      from generate_series(1, ${count}::integer) n))`
}

/** That the same process still delivers. */
async function expectAlive(path: string): Promise<void> {
  const { id } = await outhook.createEndpoint(path, { p_event_types: ['alive'] })
  await outhook.publish('alive')
  await comeTo(path, 1)
  await outhook.sql`select outbox.delete_endpoint(${id})`
}

Deno.test('One slow or broken receiver delays nobody else', async () => {
  const types = { p_event_types: ['promise'] }
  // It hangs for longer than this test may take.
  const hangs = await outhook.createEndpoint('/hang', { ...types, p_timeout_ms: 60_000 })
  for (const path of ['/status/500', '/status/410', '/poison/promise']) {
    await outhook.createEndpoint(path, types)
  }
  await outhook.createEndpoint('/good/promise', types)
  await outhook.createEndpoint('/good/ordered', { ...types, p_ordering: 'partition' })
  await outhook.sql`alter table outbox.attempt
    add constraint t_poison check (response is distinct from 'POISON') not valid`
  try {
    await publishMany('promise', 49)
    await comeTo('/good/promise', 49)
    await comeTo('/good/ordered', 49)
    // Later events do not wait for it either: the hanging requests are still open.
    await outhook.publish('promise')
    await comeTo('/good/promise', 50)
    await comeTo('/good/ordered', 50)
    const [hanging] = await outhook.sql`
      select (select in_flight > 0 from outbox.gate where endpoint_id = ${hangs.id}) as hangs,
        exists (select from outbox.attempt where endpoint_id = ${hangs.id}) as has_ended`
    expect(hanging).toEqual({ hangs: true, has_ended: false })
  } finally {
    await outhook.sql`alter table outbox.attempt drop constraint t_poison`
    await outhook.sql`select outbox.delete_endpoint(e.id) from outbox.endpoint e
      where e.status <> 'deleted' and e.url like any (array['%/hang', '%/status/%', '%/poison/%', '%/good/%'])`
  }
})

Deno.test('a delivery whose response the database refuses is sent three times and set aside, and the worker goes on', async () => {
  const args = { p_event_types: ['poison'], p_retry: { ...retryAtOnce, max_retries: 5 } }
  await outhook.createEndpoint('/good/poison', args)
  const { id } = await outhook.createEndpoint('/poison/aside', args)
  await outhook.sql`alter table outbox.attempt
    add constraint t_poison check (response is distinct from 'POISON') not valid`
  try {
    await publishMany('poison', 49)
    await comeTo('/good/poison', 49)
    const aside = async (): Promise<number> => {
      const [row] = await outhook.sql`
        select set_aside::integer as n from outbox.endpoint_status where id = ${id}`
      return row?.n
    }
    expect(await waitUntil(async () => await aside() === 49, { timeoutMs: patienceMs })).toBe(true)
    expect(requestsAt('/poison/aside')).toBe(3 * 49)
    expect(requestsAt('/good/poison')).toBe(49)
    await expectAlive('/alive/poison')
  } finally {
    await outhook.sql`alter table outbox.attempt drop constraint t_poison`
  }
  await outhook.sql`select outbox.retry_now(s.event_id, s.endpoint_id)
    from outbox.delivery_status s where s.endpoint_id = ${id} and s.open`
  await comeTo('/poison/aside', 4 * 49)
})

Deno.test('an endpoint whose secret is lost is held, and rotate_secret() resumes it', async () => {
  const types = { p_event_types: ['secret'] }
  const { id } = await outhook.createEndpoint('/secret/bad', types)
  await outhook.createEndpoint('/secret/good', types)
  await outhook.admin`
    update vault.secrets v set secret = ${btoa('x'.repeat(64))}
    from outbox.endpoint_secret s where s.endpoint_id = ${id} and v.id = s.vault_id`
  await publishMany('secret', 12)
  await comeTo('/secret/good', 12)
  const [held] = await outhook.sql`
    select status, reason from outbox.endpoint_status where id = ${id}`
  expect(held).toEqual({ status: 'paused', reason: expect.stringContaining('rotate_secret()') })
  expect(requestsAt('/secret/bad')).toBe(0)
  await outhook.sql`select outbox.rotate_secret(${id})`
  await comeTo('/secret/bad', 12)
})

Deno.test('a worker waits while the database is read-only, logs it once, and goes on', async () => {
  await outhook.createEndpoint('/read/only', { p_event_types: ['read'] })
  const before = worker.log.length
  const said = (): string[] => worker.log.slice(before).filter((line) => line.includes('25006'))
  await outhook.admin`alter system set default_transaction_read_only = on`
  await outhook.admin`select pg_reload_conf()`
  try {
    expect(await waitUntil(() => said().length > 0, { timeoutMs: patienceMs })).toBe(true)
  } finally {
    await outhook.admin`set default_transaction_read_only = off`
    await outhook.admin`alter system reset default_transaction_read_only`
    await outhook.admin`select pg_reload_conf()`
  }
  expect(
    await waitUntil(
      () => worker.log.slice(before).some((line) => line.includes('dispatch responds again')),
      { timeoutMs: patienceMs },
    ),
  ).toBe(true)
  expect(said()).toHaveLength(1)
  await waitUntil(async () => {
    const [row] = await outhook.sql`show default_transaction_read_only`
    return row?.default_transaction_read_only === 'off'
  }, { timeoutMs: patienceMs })
  await outhook.publish('read')
  await comeTo('/read/only', 1)
})

Deno.test('a worker whose right is revoked logs it, and delivers when the right is granted again', async () => {
  await outhook.admin`create role courier login password 'right'`
  await outhook.admin`grant usage on schema outbox to courier`
  const url = new URL(outhook.stack.dbUrl)
  url.username = 'courier'
  url.password = 'right'
  const courier = startWorker(url.href)
  const said = (): boolean => courier.log.some((line) => line.includes('42501'))
  expect(await waitUntil(said, { timeoutMs: patienceMs })).toBe(true)
  await outhook.admin`grant execute on function
    outbox.dispatch(uuid, bigint, jsonb, integer, text, boolean, jsonb, jsonb, integer) to courier`
  const again = (): boolean => courier.log.some((line) => line.includes('dispatch responds again'))
  expect(await waitUntil(again, { timeoutMs: patienceMs })).toBe(true)
  courier.kill('SIGTERM')
  expect(await courier.ended).toBe(0)
})
