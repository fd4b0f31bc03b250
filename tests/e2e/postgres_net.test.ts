/**
 * The `net` stand-in does what pg_net does, its losses included. Where Postgres has pg_net, the same tests run
 * on it, except for those that stop its worker.
 */

import { expect } from '@std/expect'
import { startNet } from '../../supabase/local/net/mod.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { ensurePostgres } from '../../supabase/local/postgres/mod.ts'
import { patienceMs } from '../_support/patience.ts'
import { startTestPostgres, type TestPostgres } from '../_support/postgres.ts'
import { startSink } from './fixtures/sink.ts'

/** Longer than the worker's sleep: what has not arrived by then was not sent. */
const QUIET_MS = 1500

const isReal = (await ensurePostgres({ log: () => {} })).platform.includes('pg_net')

let pg: TestPostgres

Deno.test.beforeAll(async () => {
  pg = await startTestPostgres()
})
Deno.test.afterAll(async () => {
  await pg.stop()
})

async function rows(sql: string): Promise<string[]> {
  const { code, stdout, stderr } = await pg.psql(sql)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout === '' ? [] : stdout.split('\n')
}

/** Starts a worker on an empty queue; disposing of the result stops it. */
async function worker(): Promise<AsyncDisposable> {
  await rows('truncate net.http_request_queue, net._http_response')
  if (isReal) return { [Symbol.asyncDispose]: () => Promise.resolve() }
  const net = await startNet({ url: pg.adminDbUrl, log: () => {} })
  return { [Symbol.asyncDispose]: () => net.stop() }
}

/** Whether the worker of the real extension makes a pass; the stand-in shows no state. */
async function isBusy(): Promise<boolean> {
  const [busy] = await rows(`
    select exists (select from pg_stat_activity
      where backend_type like 'pg_net%' and state is distinct from 'idle')`)
  return busy === 't'
}

async function arrived(condition: () => boolean): Promise<boolean> {
  return await waitUntil(condition, { timeoutMs: patienceMs })
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

Deno.test('net.http_post() sends after the commit, not before', async () => {
  await using _net = await worker()
  await using sink = startSink()
  const committed = rows(`
    begin;
    select net.http_post('${sink.url}/committed', '{"n": 1}', '{"q": "a b&c"}');
    select pg_sleep(0.5);
    select 'committing ' || clock_timestamp();
    commit;`)
  expect(await arrived(() => sink.requests.length === 1)).toBe(true)
  const [line] = (await committed).filter((row) => row.startsWith('committing '))
  const [request] = sink.requests
  expect(request).toMatchObject({
    method: 'POST',
    path: '/committed?q=a%20b%26c',
    contentType: 'application/json',
    body: '{"n": 1}',
  })
  expect(request?.at).toBeGreaterThan(Date.parse(line?.slice('committing '.length) ?? '') - 1)
})

Deno.test('net.http_post() sends nothing when the transaction is rolled back', async () => {
  await using _net = await worker()
  await using sink = startSink()
  await rows(`begin; select net.http_post('${sink.url}/rolled-back'); rollback;`)
  await rows(`select net.http_get('${sink.url}/after')`)
  expect(await arrived(() => sink.requests.length > 0)).toBe(true)
  expect(sink.requests.map((request) => request.path)).toEqual(['/after'])
})

Deno.test('the worker takes 200 requests a batch and waits for the slowest', async () => {
  await using _net = await worker()
  await using sink = startSink()
  // The first request of the batch holds it for as long as the test says.
  await rows(`
    begin;
    select net.http_get('${sink.url}/hold', timeout_milliseconds => 20000);
    select count(net.http_get('${sink.url}/' || n)) from generate_series(2, 250) as n;
    commit;`)
  expect(await arrived(() => sink.requests.length === 200)).toBe(true)
  await pause(QUIET_MS)
  expect(sink.requests.length).toBe(200)
  expect(await rows('select count(*) from net._http_response')).toEqual(['0'])
  sink.letGo()
  expect(await arrived(() => sink.requests.length === 250)).toBe(true)
  const [first, ...others] = sink.requests.toSorted((a, b) => a.at - b.at)
  expect(first).toBeDefined()
  // The second batch begins only after the slowest request of the first.
  expect(others.at(-1)?.at ?? 0).toBeGreaterThan(sink.letGoAt)
})

Deno.test('a row inserted directly waits for the next wake', async () => {
  await using _net = await worker()
  await using sink = startSink()
  // The worker is idle once the pass that follows its start has been made. The real one makes another pass for
  // each wake that came during a pass, and shows its state.
  await pause(QUIET_MS)
  while (await isBusy()) await pause(100)
  await rows(`insert into net.http_request_queue (method, url, timeout_milliseconds)
    values ('GET', '${sink.url}/direct', 1000)`)
  await pause(QUIET_MS)
  expect(sink.requests).toEqual([])
  await rows('select net.wake()')
  expect(await arrived(() => sink.requests.length === 1)).toBe(true)
})

Deno.test('responses tell status, redirect target, timeout and connection failure', async () => {
  await using _net = await worker()
  await using sink = startSink()
  const ids = await rows(`
    select net.http_get('${sink.url}/status/418');
    select net.http_get('${sink.url}/redirect');
    select net.http_get('${sink.url}/hold', timeout_milliseconds => 100);
    select net.http_get('http://127.0.0.1:1/');
    select net.http_get('http://unknown.invalid/');
    select net.http_delete('${sink.url}/deleted');`)
  const stored = async (): Promise<boolean> =>
    (await rows('select count(*) from net._http_response'))[0] === String(ids.length)
  expect(await waitUntil(stored, { timeoutMs: patienceMs })).toBe(true)
  expect(
    await rows(`
    select status_code, content, timed_out, error_msg is not null
    from net._http_response order by id`),
  ).toEqual([
    '418|/status/418|f|f',
    '200|/redirected|f|f',
    '||t|t',
    '||f|t',
    '||f|t',
    '200|/deleted|f|f',
  ])
})

Deno.test('the text of a timeout has its timings, so no two are the same', async () => {
  await using _net = await worker()
  await using sink = startSink()
  await rows(
    `select net.http_get('${sink.url}/hold', timeout_milliseconds => 60) from generate_series(1, 2)`,
  )
  const texts = (): Promise<string[]> => rows('select error_msg from net._http_response')
  expect(await waitUntil(async () => (await texts()).length === 2, { timeoutMs: patienceMs })).toBe(
    true,
  )
  const [first, second] = await texts()
  expect(first).toMatch(/^Timeout of 60 ms reached\. Total time: \d+\.\d{6} ms \(DNS time: /)
  expect(first).not.toBe(second)
  sink.letGo()
})

for (
  const [url, problem] of [
    ['', 'Malformed input to a URL function'],
    ['no url', 'Malformed input to a URL function'],
    ['http://example.com/a b', 'Malformed input to a URL function'],
    ['example.com', 'Bad scheme'],
    ['/path', 'Bad scheme'],
    ['foo://x', 'Unsupported URL scheme'],
    ['mailto:a@b', 'Unsupported URL scheme'],
    ['http://', 'No host part in the URL'],
    ['http://user:password@/', 'No host part in the URL'],
    ['http://host:65536/', 'Port number was not a decimal number between 0 and 65535'],
    ['http://host:abc/', 'Port number was not a decimal number between 0 and 65535'],
    ['http://[zz]/', 'Bad IPv6 address'],
    ['http://{a}/', 'Bad hostname'],
  ] as const
) {
  Deno.test(`net refuses the URL "${url}" inside the transaction`, async () => {
    const { code, stderr } = await pg.psql(`select net.http_get('${url}')`)
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining(`invalid URL "${url}": ${problem}`),
    })
  })
}

Deno.test('net accepts the URLs that pg_net accepts', async () => {
  await rows(`
    begin;
    select net.http_get(url) from unnest('{http://127.0.0.1:1,http://[::1]:80/,https://user:pw@h/?q=1#f,
      http://h:/,HTTPS://EXAMPLE.com:65535/x,http://h_x/,ftp://x/,file:///x}'::text[]) url;
    rollback;`)
})

Deno.test('net.http_post() refuses another content type inside the transaction', async () => {
  const { code, stderr } = await pg.psql(
    `select net.http_post('http://127.0.0.1:1', headers => '{"content-type": "text/plain"}')`,
  )
  expect(code).toBe(3)
  expect(stderr).toContain('Content-Type header must be "application/json"')
})

Deno.test('net.check_worker_is_up() and wait_until_running() know whether there is a worker', async () => {
  if (!isReal) {
    expect((await pg.psql('select net.check_worker_is_up()')).stderr).toContain('is not up')
  }
  await using _net = await worker()
  // pg_net looks for its worker among the processes, whose names only some roles see.
  const role = isReal ? 'postgres' : 'anon'
  await rows(`set role ${role}; select net.wait_until_running(); select net.check_worker_is_up()`)
})

Deno.test('a crash of Postgres loses what was queued', async () => {
  await rows(`select net.http_get('http://127.0.0.1:1/lost')`)
  await crash()
  expect(await rows('select count(*) from net.http_request_queue')).toEqual(['0'])
})

Deno.test('the worker comes back after a crash of Postgres', async () => {
  await using sink = startSink()
  await using _net = await worker()
  await crash()
  await rows(`select net.http_get('${sink.url}/after')`)
  expect(await arrived(() => sink.requests.length > 0)).toBe(true)
})

/** Kills one server process, which makes Postgres restart all of them and recover. */
async function crash(): Promise<void> {
  const writer = `select pid from pg_stat_activity where backend_type = 'walwriter'`
  const [before] = await rows(writer)
  Deno.kill(Number(before), 'SIGKILL')
  const recovered = async (): Promise<boolean> => {
    const { code, stdout } = await pg.psql(writer)
    return code === 0 && stdout !== '' && stdout !== before
  }
  expect(await waitUntil(recovered, { timeoutMs: patienceMs })).toBe(true)
}
