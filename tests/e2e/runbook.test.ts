/** The runbook's incidents: each is made, named by a query of the kit, and mended by the command given. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { askOps, type Row, runbookBlock, runbookCommand } from '../_support/ops.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startWorker } from '../_support/worker_process.ts'
import { type Graph, startGraph } from '../../supabase/local/whatsapp/graph.ts'

let outhook: TestOuthook
let graph: Graph
/** Receivers that are down, by the second word of their path. */
const down = new Set<string>()

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({
    only: ['deliver'],
    also: {
      fails: ({ words, answer }) => answer(down.has(words[0] ?? '') ? 503 : 200),
      hangs: ({ words, answer, pause }) => down.has(words[0] ?? '') ? pause(Infinity) : answer(200),
    },
  })
  graph = startGraph({ numbers: { 101: { token: 'token-101' } } })
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
  await graph?.close()
})

/** Runs a command that a query or the runbook has given. */
async function run(command: string | undefined): Promise<void> {
  expect(command).toMatch(/^select /)
  const { code, stderr } = await outhook.stack.psql(command ?? '')
  expect([code, stderr]).toEqual([0, ''])
}

const quick = { strategy: 'fixed', base_delay: 1, jitter: false }

/** The line of 01 that names a part of the runbook, once it does. */
async function health(part: string): Promise<Row> {
  return await line('01', ({ runbook }) => runbook === part)
}

/**
 * Publishes what nobody wants until it is so. Each wakes a run if none is awake: before pg_cron 1.5
 * the tick begins with a minute, and a kick within half a second of the last one is left out.
 */
async function eventually(isSo: () => boolean | Promise<boolean>): Promise<boolean> {
  return await waitUntil(async () => {
    await outhook.publish('anything')
    return await isSo()
  }, { timeoutMs: patienceMs, everyMs: 300 })
}

/** The first line of an answer that is like that, once there is one. */
async function line(
  number: string,
  isIt: (row: Row) => boolean,
  asked: Record<string, string> = {},
): Promise<Row> {
  let found: Row | undefined
  await eventually(async () => {
    found = (await askOps(outhook.stack, number, asked)).find(isIt)
    return found !== undefined
  })
  if (found === undefined) throw new Error(`${number} does not tell of it`)
  return found
}

function of(path: string): (row: Row) => boolean {
  return ({ url = '' }) => url.endsWith(path)
}

async function deliveredOnce(id: string): Promise<void> {
  const isDelivered = async (): Promise<boolean> => {
    const [row] = await outhook.sql`
      select exists (
        select from outbox.attempt where event_id = ${id} and outcome = 'delivered') as delivered`
    return row?.delivered
  }
  expect(await eventually(isDelivered)).toBe(true)
  expect((await outhook.attemptsOf(id)).filter(({ outcome }) => outcome === 'delivered'))
    .toHaveLength(1)
}

/** Ends the runs that are alive, so that the next one begins under the settings of the test. */
async function endRuns(): Promise<void> {
  await outhook.sql`select outbox.set_setting('worker.enabled', 'false')`
  const areGone = async (): Promise<boolean> => {
    const [row] = await outhook.sql`
      select not exists (select from outbox.run where ended_at is null) as gone`
    return row?.gone
  }
  expect(await waitUntil(areGone, { timeoutMs: patienceMs })).toBe(true)
}

Deno.test('Partitions: a day without its own is told of, and its rows move', async () => {
  await outhook.createEndpoint('/hooks/partitions', { p_event_types: ['day.missing'] })
  await outhook.sql`do $$ begin
    execute 'drop table outbox.' || outbox.partition_name('event', (now() at time zone 'UTC')::date);
  end $$`
  const id = await outhook.publish('day.missing')
  await deliveredOnce(id)
  expect((await health('Partitions')).result).toMatch(/^\d+ rows are in a default partition$/)
  // A lock of another transaction may delay it: then it is repeated.
  const command = await runbookCommand('Partitions')
  const isMade = async (): Promise<boolean> => {
    await run(command)
    const rows = await askOps(outhook.stack, '01')
    return rows.find(({ question }) => question === 'Are partitions created ahead?')?.status ===
      'ok'
  }
  expect(await waitUntil(isMade, { timeoutMs: patienceMs })).toBe(true)
  const [row] = await outhook.sql`
    select exists (select from outbox.event_default) as waits, exists (
      select from outbox.event where id = ${id}) as kept`
  expect(row).toEqual({ waits: false, kept: true })
})

Deno.test('Nothing moves: delivery is switched off, and switched on again', async () => {
  await outhook.createEndpoint('/hooks/off', { p_event_types: ['off'] })
  await endRuns()
  const id = await outhook.publish('off')
  expect((await health('Nothing moves')).result).toBe('worker.enabled is false')
  await run(await runbookCommand('Nothing moves'))
  await deliveredOnce(id)
})

Deno.test('No tick: a job that is switched off is told of, and switched on', async () => {
  await outhook.sql`
    select cron.alter_job(jobid, active => false) from cron.job where jobname = 'outhook-tick'`
  expect((await health('No tick')).result).toBe('the job outhook-tick is switched off')
  const runbook = /`(select cron\.[^`]+;)`/
  const text = await Deno.readTextFile(new URL('../../sql/ops/RUNBOOK.md', import.meta.url))
  await run(runbook.exec(text)?.[1])
  const [job] = await outhook.sql`select active from cron.job where jobname = 'outhook-tick'`
  expect(job?.active).toBe(true)
})

Deno.test('No run: a secret that differs is told of by its 401, and what waited goes out', async () => {
  await outhook.createEndpoint('/hooks/secret', { p_event_types: ['secret'] })
  await endRuns()
  const url = `${outhook.stack.apiUrl}/functions/v1`
  await outhook.sql`select outbox.configure(${url}, ${'x'.repeat(32)})`
  await outhook.sql`select outbox.set_setting('worker.enabled', 'true')`
  const id = await outhook.publish('secret')
  try {
    expect((await health('No run')).result).toMatch(/; others: .*\b401\b/)
  } finally {
    await outhook.sql`select outbox.configure(${url}, ${outhook.stack.keys.workerSecret})`
  }
  await deliveredOnce(id)
})

Deno.test('Kicks wait: a pg_net that stands still is named, and the command lets it go on', async () => {
  await outhook.createEndpoint('/hooks/still', { p_event_types: ['still'] })
  await endRuns()
  const { sql, admin } = outhook
  let id = ''
  // Each batch of the worker begins with a deletion in this table.
  await admin.begin(async (lock) => {
    await lock`lock table net._http_response in exclusive mode`
    await sql`select outbox.set_setting('worker.enabled', 'true')`
    id = await outhook.publish('still')
    const areThree = async (): Promise<boolean> => {
      const [row] = await admin`select outbox.kicks_waiting() = 3 as three`
      return row?.three
    }
    expect(await eventually(areThree)).toBe(true)
    // They have waited for 21 s.
    await admin`
      select setval('outbox.last_kick',
        (extract(epoch from clock_timestamp() - interval '21 s') * 1000)::bigint)`
    expect((await health('Kicks wait')).result)
      .toMatch(/^pg_net does not send: 3 kicks wait in its queue, the last since /)
  })
  await run(await runbookCommand('Kicks wait'))
  await deliveredOnce(id)
  const rows = await askOps(outhook.stack, '01')
  expect(rows.find(({ question }) => question === 'Does pg_net send the kicks?')?.status).toBe('ok')
})

/** A run that is awake and can do no more: it keeps its place, and takes nothing. */
async function exhaustedRun(): Promise<AsyncDisposable> {
  const id = crypto.randomUUID()
  let seq = 0
  async function poll(end = false): Promise<void> {
    await outhook.sql`
      select outbox.dispatch(${id}, ${++seq}, '[]', 0, 'edge', p_ended => ${end})`
  }
  await poll()
  const timer = setInterval(() => void poll(), 2000)
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      clearInterval(timer)
      await poll(true)
    },
  }
}

Deno.test('Falling behind: one run is not enough; the command, or a worker, brings more', async () => {
  await outhook.createEndpoint('/hooks/behind', { p_event_types: ['behind'] })
  await endRuns()
  await outhook.sql`
    select outbox.set_setting('worker.max_runs', '1'), outbox.set_setting('worker.enabled', 'true')`
  await using _run = await exhaustedRun()
  const first = await outhook.publish('behind')
  expect((await health('Falling behind')).result).toMatch(/^\d+ due, the oldest for 00:00:/)
  expect((await line('02', of('/hooks/behind'))).why).toMatch(/^due since /)
  await run(await runbookCommand('Falling behind'))
  await deliveredOnce(first)

  await outhook.sql`select outbox.set_setting('worker.max_runs', '1')`
  const isAlone = async (): Promise<boolean> => {
    const [row] = await outhook.sql`
      select count(*) = 1 as alone from outbox.run where ended_at is null`
    return row?.alone
  }
  expect(await waitUntil(isAlone, { timeoutMs: patienceMs })).toBe(true)
  const worker = startWorker(outhook.stack.dbUrl)
  try {
    await deliveredOnce(await outhook.publish('behind'))
    const [row] = await outhook.sql`
      select count(*)::integer as n from outbox.run where kind = 'worker' and ended_at is null`
    expect(row?.n).toBe(1)
  } finally {
    worker.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
    await outhook.sql`select outbox.set_setting('worker.max_runs', '4')`
  }
})

Deno.test('Cleanup: a job that is switched off is told of and switched on, and done at once', async () => {
  const { sql } = outhook
  await sql`select outbox.publish('thing.done', '{}', p_idempotency_key => 'long-ago')`
  await sql`
    update outbox.idempotency_key set created_at = now() - interval '25 hours'
    where key = 'long-ago'`
  const asked = async (): Promise<Row | undefined> =>
    (await askOps(outhook.stack, '01')).find(({ question }) =>
      question === 'Does the nightly cleanup run?'
    )
  for (const name of ['outhook-cleanup', 'outhook-drop-partitions']) {
    await sql`
      select cron.alter_job(jobid, active => false) from cron.job where jobname = ${name}`
    expect(await asked()).toMatchObject({
      status: 'error',
      result: `the job ${name} is switched off`,
      runbook: 'Cleanup',
    })
    await run(await runbookCommand('Cleanup'))
    expect((await asked())?.status).toBe('ok')
  }
  const text = await Deno.readTextFile(new URL('../../sql/ops/RUNBOOK.md', import.meta.url))
  await run(/`(select outbox\.cleanup\(\)[^`]*)`/.exec(text)?.[1])
  const [left] = await sql`
    select count(*)::integer as n from outbox.idempotency_key where key = 'long-ago'`
  expect(left?.n).toBe(0)
})

Deno.test('An endpoint fails: 03 names it with its breaker, and it drains when it is mended', async () => {
  const { id: endpoint } = await outhook.createEndpoint('/fails/one', {
    p_event_types: ['fails'],
    p_retry: quick,
  })
  await outhook.sql`update outbox.endpoint set breaker_open_ms = 1500 where id = ${endpoint}`
  down.add('one')
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.push(await outhook.publish('fails'))
  expect(await line('03', (row) => of('/fails/one')(row) && row.status === 'breaker open'))
    .toMatchObject({
      failures_of_last_50: '5 x 503',
      last_error: 'The endpoint responded with 503',
      remedy: expect.stringContaining('check its log'),
    })
  expect((await line('02', of('/fails/one'))).why).toMatch(/^held, the breaker is /)
  down.delete('one')
  for (const id of ids) await deliveredOnce(id)
})

Deno.test('An endpoint hangs: 04 names it, others go on, and it catches up when it is mended', async () => {
  await outhook.createEndpoint('/hangs/one', {
    p_event_types: ['hangs'],
    p_timeout_ms: 500,
    p_retry: quick,
  })
  await outhook.createEndpoint('/hooks/beside', { p_event_types: ['beside'] })
  down.add('one')
  const id = await outhook.publish('hangs')
  const told = await line('04', (row) => of('/hangs/one')(row) && row.timeouts !== '0')
  expect(told.note).toBe('timed out last: gets one request at a time until it responds')
  await deliveredOnce(await outhook.publish('beside'))
  down.delete('one')
  await deliveredOnce(id)
})

Deno.test('Held: a paused endpoint is named with its reason, and the command of 02 releases it', async () => {
  const { id: endpoint } = await outhook.createEndpoint('/hooks/held', { p_event_types: ['held'] })
  await outhook.sql`select outbox.pause_endpoint(${endpoint}, 'it moves')`
  const id = await outhook.publish('held')
  const told = await line('02', of('/hooks/held'))
  expect(told.why).toBe('held, the endpoint is paused: it moves')
  expect((await health('Held')).result).toMatch(/paused/)
  await run(told.command)
  await deliveredOnce(id)
})

Deno.test('Dead letters: 08 counts them by reason, and its command sends them again', async () => {
  await outhook.createEndpoint('/fails/dead', {
    p_event_types: ['dead'],
    p_retry: { ...quick, max_retries: 0 },
  })
  down.add('dead')
  const ids = [await outhook.publish('dead'), await outhook.publish('dead')]
  const told = await line('08', (row) => of('/fails/dead')(row) && row.dead === '2')
  expect(told).toMatchObject({ why: 'retries_exhausted', error: 'The endpoint responded with 503' })
  expect((await health('Dead letters')).result).toMatch(/^2 in 24 hours/)
  down.delete('dead')
  await run(told.command)
  // What pg_cron calls each second; before 1.5 it begins with a minute.
  await outhook.sql`select outbox.tick()`
  for (const id of ids) await deliveredOnce(id)
  expect((await askOps(outhook.stack, '08')).filter(of('/fails/dead'))).toEqual([])
})

Deno.test('Lost leases: what a run took with it is counted, and comes again by itself', async () => {
  await outhook.createEndpoint('/hooks/lost', {
    p_event_types: ['lost'],
    p_timeout_ms: 2_500,
    p_retry: quick,
  })
  await endRuns()
  const id = await outhook.publish('lost')
  await outhook.sql.begin(async (sql) => {
    await sql`select outbox.set_setting('worker.enabled', 'true')`
    await sql`select outbox.dispatch(gen_random_uuid(), 1, '[]', 10, 'worker')`
  })
  const answers = await askOps(outhook.stack, '01')
  expect(
    answers.find(({ question }) => question === 'Do runs end without reporting results?')?.result,
  )
    .toBe('1 deliveries leased')
  await deliveredOnce(id)
  expect(await outhook.outcomesOf(id)).toEqual(['1 lease_expired', '2 delivered'])
})

Deno.test('Set aside: an event that cannot be routed is named with its error, and tried again', async () => {
  await outhook.createEndpoint('/hooks/aside', { p_event_types: ['aside'] })
  await outhook.sql`
    create function public.refuse() returns trigger language plpgsql as
      $$ begin raise exception 'no room for it'; end $$`
  await outhook.sql`
    create trigger refuse before insert on outbox.delivery
      for each row when (new.body_bytes = 12) execute function public.refuse()`
  const [row] = await outhook.sql`select outbox.publish('aside', '{"n": 12345}') as id`
  const id: string = row?.id
  expect((await health('Set aside')).result).toMatch(/^1, such as: no room for it/)
  const told = await line('06', ({ what }) => what === 'set aside', { event: id })
  expect(told.detail).toMatch(/^no room for it; select outbox\.route_again/)
  await outhook.sql`drop trigger refuse on outbox.delivery`
  await run(await runbookCommand('Set aside'))
  await deliveredOnce(id)
})

Deno.test('Metrics incomplete: the query names what hides the metrics of a module', async () => {
  const unreadable = async (): Promise<unknown> => {
    const [row] = await outhook.sql`select outbox.get_metrics() -> 'gauges' as gauges`
    return row?.gauges
  }
  expect(await unreadable()).toContainEqual(['modules_unreadable', [], 0])
  await outhook.sql`alter table outbox.template_hold rename to template_hold_gone`
  try {
    expect(await unreadable()).toContainEqual(['modules_unreadable', [], 1])
    const { stderr } = await outhook.stack.psql(await runbookBlock('module-metrics'))
    expect(stderr).toContain('relation "outbox.template_hold" does not exist')
  } finally {
    await outhook.sql`alter table outbox.template_hold_gone rename to template_hold`
  }
  expect(await unreadable()).toContainEqual(['modules_unreadable', [], 0])
})

Deno.test('WhatsApp held: a dead token is named, no try is spent, and the new one sends all', async () => {
  await outhook.sql`
    select outbox.set_setting('whatsapp.graph_url', to_jsonb(${graph.url}::text)),
      outbox.put_whatsapp_app('1', 'app-secret'),
      outbox.put_template('org-a', 'reminder', 'appointment_reminder', 'fr', 'AUTHENTICATION')`
  const [row] = await outhook.sql`
    select outbox.create_channel('org-a', '101', '9', '1', 'token-dead') as channel`
  const channel: string = row?.channel.id
  await outhook.sql`
    select outbox.create_message('org-a', '+12025550111', '{"parameters": ["A"]}', 'reminder')`
  const told = await line('02', (one) =>
    one.endpoint_id === channel && one.why !== undefined &&
    one.why.startsWith('held, the endpoint is paused: '))
  expect(told.why).toBe('held, the endpoint is paused: held: 190 Access token has expired')
  expect(await line('15', ({ channel_status }) => channel_status === 'paused'))
    .toMatchObject({ org_id: 'org-a', status: 'QUEUED' })
  const [delivery] = await outhook.sql`
    select failed_attempts from outbox.delivery where endpoint_id = ${channel}`
  expect(delivery?.failed_attempts).toBe(0)
  expect(told.command).toContain('set_channel_token')
  await run(told.command?.replace('<the new token>', 'token-101'))
  // A number rests for six seconds between two messages to one person, and the tick may not run yet.
  await line('13', ({ status, count }) => status === 'SENT' && count === '1', { org: 'org-a' })
})
