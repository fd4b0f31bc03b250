/** The console kit of sql/ops, each query on a database where it has something to tell. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import type { Postgres } from '../../supabase/local/postgres/mod.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { runCli } from '../../supabase/local/supabase_cli.ts'
import { withMigrations } from '../_support/postgres.ts'
import { patienceMs } from '../_support/outhook.ts'
import { askOps, opsQueries, opsQuery, type Row, runbookBlock } from '../_support/ops.ts'

/**
 * Two endpoints; of the first one's events one fails for now, one for good, one is delivered and
 * one is in a run's hands. Then an ordered endpoint whose key is halted after a dead letter.
 */
const scene = `
  select outbox.create_endpoint('https://example.com/hook', p_org_id => 'org-1',
    p_retry => '{"strategy": "fixed", "base_delay": 600}');
  select outbox.create_endpoint('https://other.example.org/hook', p_org_id => 'org-2');
  select outbox.publish_many('[
    {"type": "order.held", "payload": {}, "org_id": "org-1"},
    {"type": "order.dead", "payload": {}, "org_id": "org-1", "idempotency_key": "dead-1"},
    {"type": "order.fails", "payload": {}, "org_id": "org-1"},
    {"type": "order.paid", "payload": {}, "org_id": "org-1"}]');
  create function public.step(p_seq integer, p_answer jsonb) returns jsonb language sql as $$
    select outbox.dispatch('00000000-0000-7000-8000-000000000001', p_seq, coalesce((
      select jsonb_agg(d || jsonb_build_object('duration_ms', 12, 'response', 'no', 'status', s.status,
        'error', 'it answered ' || s.status)
        || case when s.status = 0 then '{"outcome": "released"}'
          when s.status < 300 then '{"outcome": "delivered"}'
          else '{"outcome": "failed", "error_class": "status"}' end::jsonb)
      from jsonb_array_elements(p_answer -> 'deliveries') d
      join outbox.event e on e.id = (d ->> 'event')::uuid
      join (values ('order.fails', 503), ('order.dead', 404), ('order.paid', 204), ('key.dead', 404),
        ('key.next', 0)) s (type, status) on s.type = e.type), '[]'), 10)::jsonb
  $$;
  create table public.answer as select public.step(1, '{}') as a;
  update public.answer set a = public.step(2, a);
  select outbox.create_endpoint('https://keys.example.org/hook', '{key.*}', p_org_id => 'org-3',
    p_ordering => 'partition');
  update outbox.endpoint set on_dead_letter = 'halt' where ordering = 'partition';
  select outbox.publish_many('[
    {"type": "key.dead", "payload": {}, "org_id": "org-3", "partition_key": "customer-7"},
    {"type": "key.next", "payload": {}, "org_id": "org-3", "partition_key": "customer-7"}]');
  update public.answer set a = public.step(3, '{}');
  update public.answer set a = public.step(4, a);`

async function query(pg: Postgres, sql: string): Promise<string> {
  const { code, stdout, stderr } = await pg.psql(sql)
  if (code !== 0) throw new Error(stderr)
  return stdout
}

function eventOf(pg: Postgres, type: string): Promise<string> {
  return query(pg, `select id from outbox.event where type = '${type}'`)
}

/** The command of a line that names one. */
function commandOf(row: Row | undefined): string {
  expect(row?.command).toMatch(/^select outbox\.[^;]+;$/)
  return row?.command ?? ''
}

Deno.test('every console query is numbered, and says at its head when to use it and what is good', async () => {
  const numbers = opsQueries.map((path) => /^sql\/ops\/(\d\d)_[a-z_]+\.sql$/.exec(path)?.[1])
  expect(numbers).toEqual(numbers.map((_, index) => String(index + 1).padStart(2, '0')))
  const index = await Deno.readTextFile(join(projectRoot, 'sql/ops/README.md'))
  for (const path of opsQueries) {
    const text = await Deno.readTextFile(join(projectRoot, path))
    const [head = '', body = ''] = text.split('\n\n', 2)
    expect(head).toMatch(/^(?:-- .*\n)+-- .*$/)
    expect(head.replaceAll('\n-- ', ' ')).toMatch(/\bUse it\b.* Good: /)
    expect(body).toMatch(/^(?:select|with)\s/)
    // supabase db query takes one statement.
    expect(text.match(/;\s*\n/g)).toHaveLength(1)
    expect(index).toContain(`(${path.replace('sql/ops/', '')})`)
  }
})

Deno.test('console queries on a migrated database', async (t) => {
  await withMigrations(async (pg) => {
    await t.step('an empty database has no line but those of its own health', async () => {
      for (const path of opsQueries) {
        const number = path.slice('sql/ops/'.length, 'sql/ops/'.length + 2)
        if (['01', '06', '09', '10', '11', '12', '14'].includes(number)) continue
        expect({ path, rows: await askOps(pg, number) }).toEqual({ path, rows: [] })
      }
    })

    await t.step('what asks for one object says which name is missing or wrong', async () => {
      const id = '01900000-0000-7000-8000-000000000000'
      const asks: [number: string, name: string, value: string | null, told: string][] = [
        ['05', 'endpoint', 'nowhere', `outhook.endpoint is 'nowhere': neither an id nor a part`],
        ['06', 'event', null, 'outhook.event is not set'],
        ['06', 'event', 'x', `outhook.event is 'x': neither an id nor organisation/key`],
        ['06', 'event', id, `event ${id} does not exist`],
        ['06', 'event', 'org-1/none', `no event of the organisation has this key within 24 hours`],
        ['09', 'endpoint', null, 'outhook.endpoint is not set'],
        ['09', 'endpoint', 'nowhere', `outhook.endpoint is 'nowhere'`],
        ['10', 'endpoint', null, 'outhook.endpoint is not set'],
        ['10', 'endpoint', 'nowhere', `outhook.endpoint is 'nowhere'`],
        ['11', 'event', null, 'outhook.event is not set'],
        ['11', 'event', 'x', `outhook.event is 'x': not the id of an event`],
        ['11', 'event', id, `event ${id} does not exist`],
        ['14', 'message', null, 'outhook.message is not set'],
        ['14', 'message', 'x', `outhook.message is 'x': neither an id`],
        ['14', 'message', '7', 'message 7 does not exist'],
      ]
      for (const [number, name, value, told] of asks) {
        const rows = await askOps(pg, number, value === null ? {} : { [name]: value })
        expect([number, value, rows.length]).toEqual([number, value, 1])
        expect(Object.values(rows[0] ?? {}).join(' ')).toContain(told)
      }
    })

    await t.step('01 judges the responses to kicks by the last ones', async () => {
      const judged = async (responses: string[]): Promise<string | undefined> => {
        const rows = responses.map((response, n) => `
          insert into net._http_response (id, status_code, timed_out, error_msg, created) values
            (${n}, ${response === 'late' ? 'null, true, ' : `${response}, false, `}
            ${response === 'late' ? `'Timeout of 5000 ms reached'` : 'null'},
            now() - interval '${responses.length - n} s');`)
        await query(pg, `delete from net._http_response; ${rows.join('')}`)
        const found = await askOps(pg, '01')
        await query(pg, 'delete from net._http_response')
        return found.find(({ question }) => question?.startsWith('How did the function'))?.status
      }
      expect(await judged(['202', '202'])).toBe('ok')
      // One cold start took too long for pg_net.
      expect(await judged(['late', '202'])).toBe('ok')
      expect(await judged(['202', 'late'])).toBe('warning')
      expect(await judged(['late', 'late', 'late'])).toBe('error')
      expect(await judged(['401'])).toBe('error')
      // The secret was changed a moment ago.
      expect(await judged(['202', '202', '401', '401', '401'])).toBe('error')
      expect(await judged(['202', '401'])).toBe('warning')
      expect(await judged(['401', '401', '202'])).toBe('warning')
    })

    await t.step('no age is negative if a clock was ahead', async () => {
      await query(
        pg,
        `insert into outbox.event (id, org_id, type, body, created_at)
        values (outbox.uuid_v7(now() + interval '1 min'), 'default', 'a', '{}', now() + interval '1 min');
        insert into outbox.unrouted (event_id, org_id)
        select id, org_id from outbox.event`,
      )
      const [age] = (await askOps(pg, '01')).filter(({ question }) =>
        question === 'How old is the oldest unrouted event?'
      )
      await query(pg, 'delete from outbox.unrouted; delete from outbox.event')
      expect(age).toMatchObject({ status: 'ok', result: '00:00:00' })
    })

    await t.step('01 names a part of the runbook for all that is not ok', async () => {
      const rows = await askOps(pg, '01')
      expect(rows).toHaveLength(30)
      const bad = rows.filter(({ status }) => status !== 'ok')
      expect(bad.map(({ question }) => question)).toContain(
        'Does the database know where the function is?',
      )
      const runbook = await Deno.readTextFile(join(projectRoot, 'sql/ops/RUNBOOK.md'))
      const text = await Deno.readTextFile(join(projectRoot, opsQuery('01')))
      const named = text.matchAll(/'[^'\n]+\?'(?: as question)?, '([^']+)'/g)
      const parts = [...new Set([...named].map(([, name]) => name))]
      expect(parts.length).toBeGreaterThan(7)
      for (const part of parts) expect(runbook).toContain(`\n## ${part}\n`)
      for (const { runbook: part } of bad) expect(parts).toContain(part)
    })

    expect((await pg.psql(scene)).stderr).toBe('')

    await t.step('02 shows whom the events wait for, why, and what releases them', async () => {
      expect(await askOps(pg, '02')).toMatchObject([{
        org_id: 'org-1',
        url: 'https://example.com/hook',
        open_deliveries: '2',
        in_flight: '1',
        last_error: expect.stringMatching(/^it answered (404|503)$/),
        first_event: await eventOf(pg, 'order.held'),
      }, {
        org_id: 'org-3',
        why: 'held, a key is halted after a dead letter',
        command: expect.stringContaining(`'customer-7'`),
      }])
    })

    await t.step('03 shows who fails, of what, and what helps', async () => {
      expect(await askOps(pg, '03')).toMatchObject([
        { url: 'https://keys.example.org/hook', failures_of_last_50: '1 x 404' },
        {
          url: 'https://example.com/hook',
          failures_of_last_50: '1 x 404, 1 x 503',
          delivered_of_last_50: '1',
          remedy: expect.stringContaining('check its log'),
        },
      ])
    })

    await t.step('04 shows how long each takes', async () => {
      expect(await askOps(pg, '04')).toMatchObject([
        {
          url: 'https://example.com/hook',
          attempts: '3',
          p50_ms: '12',
          p95_ms: '12',
          in_flight: '1',
        },
        { url: 'https://keys.example.org/hook', attempts: '1' },
      ])
    })

    await t.step('05 shows the attempts of the endpoint asked for, else of all', async () => {
      expect(await askOps(pg, '05', { endpoint: 'other.example.org' })).toEqual([])
      const rows = await askOps(pg, '05', { endpoint: 'example.com' })
      expect(await askOps(pg, '05', { endpoint: rows[0]?.endpoint_id ?? '' })).toEqual(rows)
      expect(await askOps(pg, '05')).toHaveLength(rows.length + 2)
      const told = rows.map((row) => `${row.event_type} ${row.kind} ${row.outcome} ${row.status}`)
      expect(told.sort()).toEqual([
        'order.dead attempt failed 404',
        'order.dead close dead_letter 404',
        'order.fails attempt failed 503',
        'order.paid attempt delivered 204',
      ])
    })

    await t.step('06 tells an event from its publishing to its end, by id or by key', async () => {
      const rows = await askOps(pg, '06', { event: 'org-1/dead-1' })
      expect(rows.map(({ what }) => what)).toEqual(['published', 'failed', 'ended: dead_letter'])
      const id = await eventOf(pg, 'order.dead')
      expect(await askOps(pg, '06', { event: id })).toEqual(rows)
      expect(await askOps(pg, '06', { event: 'org-2/dead-1' }))
        .toMatchObject([{ what: 'no such event' }])
      const open = await askOps(pg, '06', { event: await eventOf(pg, 'order.fails') })
      expect(open.map(({ what }) => what)).toEqual(['published', 'failed', 'retrying'])
      expect(open[2]?.detail).toMatch(/^next attempt at /)
    })

    await t.step('07 shows what waits for its retry, and its command makes it due', async () => {
      const rows = await askOps(pg, '07')
      expect(rows).toMatchObject([{
        event_type: 'order.fails',
        failed_attempts: '1',
        attempts_left: '5',
        status: '503',
      }])
      await query(pg, commandOf(rows[0]))
      expect(await askOps(pg, '07')).toEqual([])
    })

    await t.step('08 and 09 show what is dead, and their commands send it again', async () => {
      const dead = await askOps(pg, '08')
      expect(dead).toMatchObject([
        { url: 'https://keys.example.org/hook', why: 'not_retryable', dead: '1' },
        { url: 'https://example.com/hook', dead: '1', event_types: 'order.dead' },
      ])
      await query(pg, commandOf(dead[0]))
      const last = await askOps(pg, '09', { endpoint: 'example.com' })
      expect(last.map(({ what, count }) => `${count} ${what}`)).toEqual([
        '1 dead letters',
        '1 delivered',
      ])
      await query(pg, commandOf(last[0]))
      expect(await query(pg, 'select outbox.tick()')).toBeDefined()
      await query(pg, commandOf(last[1]))
      expect(await askOps(pg, '08')).toEqual([])
      const open = `select string_agg(type, ' ' order by type) from outbox.event
        where id in (select d.event_id from outbox.delivery d)`
      expect(await query(pg, open)).toBe(
        'key.dead key.next order.dead order.fails order.held order.paid',
      )
      const job = (await askOps(pg, '09', { endpoint: 'example.com' }))[2]
      expect(job).toMatchObject({ what: expect.stringMatching(/^job \d+, /), count: '1' })
    })

    await t.step('06 shows each replay of an event, not only the last', async () => {
      const id = await eventOf(pg, 'order.dead')
      // The replays of 09 are open: they fail, and are replayed once more.
      await query(
        pg,
        `update public.answer set a = public.step(5, '{}');
        update public.answer set a = public.step(6, a)`,
      )
      await query(
        pg,
        `select outbox.replay(event_id, endpoint_id) from outbox.dead_letter
        where event_id = '${id}'`,
      )
      const what = (await askOps(pg, '06', { event: id })).map((row) => row.what)
      expect(what).toEqual([
        ...['published', 'failed', 'ended: dead_letter'],
        ...['replayed', 'failed', 'ended: dead_letter'],
        ...['replayed', 'pending'],
      ])
    })

    await t.step('10 walks an endpoint through pausing, draining and resuming', async () => {
      const ask = async (): Promise<Row | undefined> =>
        (await askOps(pg, '10', { endpoint: '//example.com' }))[0]
      await query(pg, commandOf(await ask()))
      expect(await ask()).toMatchObject({
        status: 'paused',
        step: 'draining: 1 in flight, for at most 20 s',
      })
      const held = await eventOf(pg, 'order.held')
      const release = `select outbox.dispatch('00000000-0000-7000-8000-000000000001', 10,
        jsonb_build_array(jsonb_build_object('event', d.event_id, 'endpoint', d.endpoint_id,
        'attempt', d.attempt, 'outcome', 'released')), 0) from outbox.delivery d
        where d.event_id = '${held}'`
      await query(pg, release)
      const drained = await ask()
      expect(drained?.step).toBe('drained: nothing is in flight')
      const [stuck] = await askOps(pg, '02')
      expect(stuck).toMatchObject({ why: 'held, the endpoint is paused: maintenance' })
      const rows = await askOps(pg, '01')
      expect(rows.find(({ runbook }) => runbook === 'Held')?.result).toBe('1: paused')
      await query(pg, commandOf(drained))
      expect((await ask())?.status).toBe('enabled')
    })

    await t.step('11 proves what was received, and says what was not', async () => {
      const [proven] = await askOps(pg, '11', { event: await eventOf(pg, 'order.paid') })
      expect(proven).toMatchObject({
        org_id: 'org-1',
        status: '204',
        sha256_of_data: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
        verdict: expect.stringMatching(/^proven: .* responded with 204 at .* \(attempt 2\)$/),
      })
      const [dead] = await askOps(pg, '11', { event: await eventOf(pg, 'order.dead') })
      expect(dead?.verdict).toBe('not received: dead_letter, it answered 404')
    })

    await t.step('12 names a transaction that is left open, and its command ends it', async () => {
      const left = pg.psql(`begin isolation level repeatable read; select 1; select pg_sleep(60)`)
      const find = async (): Promise<Row | undefined> =>
        (await askOps(pg, '12')).find(({ what, detail }) =>
          what === 'transaction' && detail?.includes('pg_sleep(60)')
        )
      expect(await waitUntil(async () => await find() !== undefined, { timeoutMs: patienceMs }))
        .toBe(true)
      const command = (await find())?.command ?? ''
      expect(command).toMatch(/^select pg_terminate_backend\(\d+\);$/)
      await query(pg, command)
      expect((await left).code).not.toBe(0)
      expect(await find()).toBeUndefined()
    })

    await t.step(
      '13 to 15 tell of messages by status, of one, and of those that wait',
      async () => {
        await query(pg, messages)
        const counts = await askOps(pg, '13')
        expect(counts.map(({ org_id, status, count }) => `${org_id} ${status} ${count}`)).toEqual([
          'org-1 QUEUED 1',
          'org-1 SENDING 1',
          'org-1 SENT 1',
        ])
        expect(await askOps(pg, '13', { org: 'org-1' })).toHaveLength(3)
        expect(await askOps(pg, '13', { org: 'org-2' })).toEqual([])
        const [one] = await askOps(pg, '14', { message: 'wamid.1' })
        expect(one).toMatchObject({ status: 'SENT', org_id: 'org-1' })
        for (const message of [one?.message_id ?? '', 'org-1/key-1']) {
          expect(await askOps(pg, '14', { message })).toEqual([one])
        }
        const waiting = await askOps(pg, '15')
        expect(waiting.map(({ status, channel_status }) => `${status} ${channel_status}`))
          .toEqual(['QUEUED enabled', 'SENDING enabled'])
        expect(JSON.stringify([counts, one, waiting])).not.toContain('+1202')
      },
    )

    await t.step('the Supabase CLI runs them as they stand', async () => {
      const all = ['2.117.0', '3.1.0'] as const
      const short = Deno.env.get('OUTHOOK_TESTS') === 'short'
      for (const version of short ? all.slice(-1) : all) {
        const result = await runCli({
          version,
          args: [
            'db',
            'query',
            ...version === '3.1.0' ? ['--read-only'] : [],
            '-f',
            opsQuery('01'),
          ],
          cwd: projectRoot,
          dbUrl: pg.dbUrl,
        })
        expect(result.stdout + result.stderr).toContain('Is delivery switched on?')
      }
    })

    await t.step(
      'Broken watch: 01 names the table, and the runbook leads to the command',
      async () => {
        const watched = async (): Promise<Row | undefined> =>
          (await askOps(pg, '01')).find(({ question }) =>
            question === 'Is each watched table published?'
          )
        const broken = async (): Promise<string[]> => {
          const rows = await query(pg, await runbookBlock('broken-watch'))
          return rows === '' ? [] : rows.split('|')
        }
        await query(
          pg,
          `create table public.orders (id integer primary key, paid boolean, note text);
        select outbox.watch_table('public.orders', p_changed => '{paid}');`,
        )
        expect(await watched()).toMatchObject({ status: 'ok', result: 'yes' })
        expect(await broken()).toEqual([])

        await query(pg, 'alter table public.orders drop column paid cascade')
        expect(await watched()).toMatchObject({
          status: 'error',
          result: 'changes of public.orders are not published: a column of p_changed was dropped',
          runbook: 'Broken watch',
        })
        const [, , call = ''] = await broken()
        expect(call).toBe(`select outbox.watch_table('orders', …);`)
        await query(pg, call.replace('…', `p_changed => '{note}'`))
        expect(await watched()).toMatchObject({ status: 'ok' })

        await query(pg, 'alter table public.orders disable trigger outhook_row')
        expect((await watched())?.result).toContain('its trigger is disabled')
        await query(pg, (await broken())[2] ?? '')
        expect(await watched()).toMatchObject({ status: 'ok' })
      },
    )

    await t.step('the other statements of the runbook run', async () => {
      expect(await query(pg, await runbookBlock('binding'))).toBe('')
      expect(await query(pg, await runbookBlock('kicks-wait'))).toBe('')
      expect(JSON.parse(await query(pg, await runbookBlock('reload-jobs')))).toEqual({ jobs: 5 })
    })

    await t.step('01 notices a tick that is gone', async () => {
      await query(pg, `select cron.unschedule(jobid) from cron.job where jobname = 'outhook-tick'`)
      const rows = await askOps(pg, '01')
      expect(rows.find(({ question }) => question === 'Does the tick run?')).toMatchObject({
        status: 'error',
        result: 'there is no job outhook-tick',
        runbook: 'No tick',
      })
    })
  })
})

/** A message that waits, one whose run died a quarter of an hour ago, and one that was sent. */
const messages = `
  select outbox.put_whatsapp_app('1', 'app-secret');
  select outbox.create_channel('org-1', '100', '200', '1', 'token-100');
  select outbox.put_template('org-1', 'reminder', 'appointment_reminder', 'fr', 'AUTHENTICATION');
  select outbox.create_message('org-1', '+1202555011' || n, '{"parameters": ["A"]}', 'reminder',
    p_idempotency_key => 'key-' || n) from generate_series(1, 3) n;
  update outbox.outbound_message set status = 'SENT', provider_message_id = 'wamid.1'
    where idempotency_key = 'key-1';
  update outbox.outbound_message set status = 'SENDING', updated_at = now() - interval '15 minutes'
    where idempotency_key = 'key-2';`

Deno.test('the job outhook-vacuum vacuums every table that it names', async () => {
  await withMigrations(async (pg) => {
    const { stdout: command } = await pg.psql(
      `select command from cron.job where jobname = 'outhook-vacuum'`,
    )
    expect(await pg.psql(command)).toMatchObject({ code: 0, stderr: '' })
    const done = `select string_agg(relname, ' ' order by relname) from pg_stat_user_tables
      where schemaname = 'outbox' and vacuum_count > 0`
    const all = async (): Promise<boolean> =>
      (await pg.psql(done)).stdout.trim() === 'gate lane run run_batch unrouted'
    expect(await waitUntil(all, { timeoutMs: patienceMs })).toBe(true)
  })
})
