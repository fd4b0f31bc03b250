/** The console queries of sql/ops, each on a database where it has something to tell. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import type { Postgres } from '../../supabase/local/postgres/mod.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { withSchema } from '../../supabase/local/schema/database.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { listFiles } from '../_run/files.ts'
import { patienceMs } from '../_support/outhook.ts'

type Row = Record<string, string>

const queries = await listFiles(projectRoot, 'sql/ops', '.sql')

/** One endpoint with three events: one fails for now, one for good, one waits in a run's hands. */
const scene = `
  select outbox.create_endpoint('https://example.com/hook', p_org_id => 'org-1');
  select outbox.create_endpoint('https://other.example.org/hook', p_org_id => 'org-2');
  select outbox.publish_many('[
    {"type": "order.held", "payload": {}, "org_id": "org-1"},
    {"type": "order.dead", "payload": {}, "org_id": "org-1"},
    {"type": "order.fails", "payload": {}, "org_id": "org-1"}]');
  create temporary table claimed as
    select outbox.dispatch('00000000-0000-7000-8000-000000000001', 1, '[]', 10)::jsonb as answer;
  select outbox.dispatch('00000000-0000-7000-8000-000000000001', 2, (
    select jsonb_agg(d || jsonb_build_object('outcome', 'failed', 'error_class', 'status',
      'status', s.status, 'error', 'it answered ' || s.status, 'duration_ms', 12, 'response', 'no'))
    from claimed, jsonb_array_elements(answer -> 'deliveries') d
    join outbox.event e on e.id = (d ->> 'event')::uuid
    join (values ('order.fails', 503), ('order.dead', 404)) s (type, status) on s.type = e.type));`

async function run(pg: Postgres, path: string, before = ''): Promise<Row[]> {
  const sql = before + await Deno.readTextFile(join(projectRoot, path))
  // CSV keeps the columns' names, and psql as a role without more rights than the console's.
  const { code, stdout, stderr } = await pg.psql(
    sql.replace(/;\s*$/, '\\g (format=csv tuples_only=off fieldsep=,)\n'),
  )
  if (code !== 0) throw new Error(`${path}: ${stderr}`)
  return readCsv(stdout)
}

/** Reads CSV without line ends in its fields. */
function readCsv(text: string): Row[] {
  const [head = [], ...rows] = text.split('\n').map((line) =>
    [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
      quoted?.replaceAll('""', '"') ?? plain ?? ''
    )
  )
  return rows.map((cells) =>
    Object.fromEntries(head.map((name, index) => [name, cells[index] ?? '']))
  )
}

Deno.test('every console query says at its head when to use it', async () => {
  expect(queries).toEqual(
    ['endpoint', 'health', 'pending', 'retries'].map((n) => `sql/ops/${n}.sql`),
  )
  const runbook = await Deno.readTextFile(join(projectRoot, 'sql/ops/README.md'))
  for (const path of queries) {
    const text = await Deno.readTextFile(join(projectRoot, path))
    expect(text).toMatch(/^(?:-- .*\n)*-- .*\bUse it\b.*\n(?:-- .*\n)*\n(?:select|with)\s/)
    expect(runbook).toContain(`(${path.replace('sql/ops/', '')})`)
  }
})

Deno.test('console queries on a migrated database', async (t) => {
  await withSchema(projectRoot, 'migrations', async (pg) => {
    await t.step('an empty database has no line but those of health.sql', async () => {
      for (const path of queries.filter((path) => !path.endsWith('health.sql'))) {
        expect(await run(pg, path)).toEqual([])
      }
    })

    await t.step('health.sql names a part of the runbook for all that is not ok', async () => {
      const rows = await run(pg, 'sql/ops/health.sql')
      expect(rows).toHaveLength(13)
      const bad = rows.filter(({ state }) => state !== 'ok')
      expect(bad.map(({ question }) => question)).toContain(
        'Does the database know where the function is?',
      )
      const runbook = await Deno.readTextFile(join(projectRoot, 'sql/ops/README.md'))
      const query = await Deno.readTextFile(join(projectRoot, 'sql/ops/health.sql'))
      const named = query.matchAll(/'[^'\n]+\?'(?: as question)?, '([^']+)'/g)
      const parts = [...new Set([...named].map(([, name]) => name))]
      expect(parts.length).toBeGreaterThan(7)
      for (const part of parts) expect(runbook).toContain(`\n## ${part}\n`)
      for (const { runbook: part } of bad) expect(parts).toContain(part)
    })

    const staged = await pg.psql(scene)
    expect(staged.stderr).toBe('')

    await t.step('pending.sql shows whom the events wait for, and why', async () => {
      expect(await run(pg, 'sql/ops/pending.sql')).toMatchObject([{
        org_id: 'org-1',
        url: 'https://example.com/hook',
        open_deliveries: '2',
        being_sent: '1',
        last_error: expect.stringMatching(/^it answered (404|503)$/),
      }])
    })

    await t.step(
      'endpoint.sql shows the attempts of the endpoint asked for, else of all',
      async () => {
        const asked = (text: string): Promise<Row[]> =>
          run(pg, 'sql/ops/endpoint.sql', `set outhook.endpoint = '${text}';\n`)
        expect(await asked('other.example.org')).toEqual([])
        const rows = await asked('example.com')
        const [id = ''] = rows.map((row) => row.endpoint_id)
        expect(await asked(id)).toEqual(rows)
        expect(await run(pg, 'sql/ops/endpoint.sql')).toEqual(rows)
        const told = rows.map((row) => `${row.event_type} ${row.kind} ${row.outcome} ${row.status}`)
        expect(told.sort()).toEqual([
          'order.dead close dead_letter 404',
          'order.dead try failed 404',
          'order.fails try failed 503',
        ])
        expect(rows.every(({ url }) => url === 'https://example.com/hook')).toBe(true)
      },
    )

    await t.step('retries.sql shows what waits for its retry', async () => {
      expect(await run(pg, 'sql/ops/retries.sql')).toMatchObject([
        { event_type: 'order.fails', failed_tries: '1', tries_left: '5', status: '503' },
      ])
    })

    await t.step('health.sql counts leases and dead letters', async () => {
      const rows = await run(pg, 'sql/ops/health.sql')
      const answers = Object.fromEntries(rows.map((row) => [row.question, row.answer]))
      expect(answers['Do runs end without a word?']).toBe('1 deliveries leased')
      expect(answers['Are there new dead letters?']).toBe('1 in 24 hours that nobody looked at')
    })

    await t.step('pending.sql and health.sql say that an endpoint is held', async () => {
      await pg.psql(`select outbox.pause_endpoint(id, 'it moves') from outbox.endpoint
        where url = 'https://example.com/hook'`)
      const [pending] = await run(pg, 'sql/ops/pending.sql')
      expect(pending?.why).toBe('held, the endpoint is paused: it moves')
      const rows = await run(pg, 'sql/ops/health.sql')
      expect(rows.find(({ runbook }) => runbook === 'Held')?.answer).toBe('1: paused')
    })

    await t.step('health.sql notices a tick that is gone', async () => {
      await pg.psql(`select cron.unschedule(jobid) from cron.job where jobname = 'outhook-tick'`)
      const rows = await run(pg, 'sql/ops/health.sql')
      expect(rows.find(({ question }) => question === 'Does the tick run?')).toMatchObject({
        state: 'bad',
        answer: 'there is no job outhook-tick',
        runbook: 'No tick',
      })
    })
  })
})

Deno.test('the job outhook-vacuum vacuums every table that it names', async () => {
  await withSchema(projectRoot, 'migrations', async (pg) => {
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
