/** The stored candidate of the first release, as installed, and its upgrade to the schema of today. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { applyFiles, withSchema } from '../../supabase/local/schema/database.ts'
import type { SqlFile } from '../../supabase/local/schema/migration.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { lastCandidate, projectVersion, type Release } from '../../supabase/local/schema/release.ts'
import { compareSnapshots, takeSnapshot } from '../../supabase/local/schema/snapshot.ts'
import { buildUpgradeFiles } from '../../supabase/local/schema/upgrade_files.ts'
import { patienceMs } from '../_support/patience.ts'
import { startTestPostgres } from '../_support/postgres.ts'
import { startWorker } from '../_support/worker_process.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { buildIndexes } from './_indexes.ts'
import { migrate } from './_migrate.ts'
import { beginTraffic } from './_traffic.ts'

/** Events, deliveries of which some are in flight, an ordered lane and a paused endpoint. */
const fill = `
select outbox.create_endpoint('https://example.com/' || n, '{order.*}',
  p_ordering => case n when 2 then 'partition' else 'none' end)
from generate_series(1, 3) n;
select outbox.publish('order.paid', '{"n": 1}', p_partition_key => 'k') from generate_series(1, 20);
select outbox.dispatch('11111111-1111-1111-1111-111111111111', 1, p_limit => 5);
select outbox.pause_endpoint(id) from outbox.endpoint where url like '%/3';
`

async function stored(): Promise<Release> {
  const release = await lastCandidate(projectRoot)
  if (release === null) throw new Error('tests/releases has no candidate')
  return release
}

/** The statements that install the release, as its migrations did. */
async function installation({ modules }: Release): Promise<SqlFile[]> {
  const path = 'supabase/migrations/20251231000000_extensions.sql'
  return [
    { path, text: await Deno.readTextFile(join(projectRoot, path)) },
    ...[...modules].map(([module, files]) => ({
      path: module,
      text: files.map(({ text }) => text).join('\n'),
    })),
  ]
}

/** The upgrade from the candidate. Throws an error that names the changes without a step. */
async function upgrade(release: Release): Promise<SqlFile[]> {
  const { files, byHand } = await buildUpgradeFiles(projectRoot, release)
  if (byHand.length === 0) return files
  throw new Error(
    `These changes since ${release.version} need a step. Write it into a new file of ` +
      `sql/upgrades/${await projectVersion(projectRoot)}/<module>/, or freeze another candidate ` +
      `(docs/release.md):\n  ${byHand.join('\n  ')}`,
  )
}

Deno.test('the stored candidate of the first release, upgraded, is the same as a new database', async () => {
  const release = await stored()
  const files = await upgrade(release)
  const fresh = await withSchema(projectRoot, 'sql', takeSnapshot)
  await using pg = await startTestPostgres()
  await applyFiles(pg, await installation(release))
  expect((await pg.psql("select outbox.version() ->> 'version'")).stdout).toBe(release.version)
  await applyFiles(pg, files)
  await buildIndexes(pg)
  const found = compareSnapshots(
    ['a new database', fresh],
    ['an upgraded one', await takeSnapshot(pg)],
  )
  expect(found.join('\n')).toBe('')
})

Deno.test('the upgrade of the candidate keeps its rows, and delivers what was published before', async () => {
  const release = await stored()
  await using pg = await startTestPostgres()
  const run = async (sql: string): Promise<string> => {
    const { code, stdout, stderr } = await pg.psql(sql)
    expect([code, stderr]).toEqual([0, ''])
    return stdout
  }
  await applyFiles(pg, await installation(release))
  await run(fill)
  const counts =
    `select (select count(*) from outbox.event), (select count(*) from outbox.delivery),
    (select count(*) from outbox.gate), (select count(*) from outbox.subscription)`
  const before = await run(counts)
  expect(before).toBe('20|60|3|3')
  await applyFiles(pg, await upgrade(release))
  expect(await run(counts)).toBe(before)
  expect(await run('select outbox.module_problem() is null')).toBe('t')
  const claimed = await run(
    `select json_array_length(outbox.dispatch('11111111-1111-1111-1111-111111111111', 2, p_limit => 50)
      -> 'deliveries')`,
  )
  // Of 40: 5 are in flight. A paused endpoint gets nothing.
  expect(claimed).toBe('35')
})

/** An audit trail of messages, with an actor that is longer than the row of an index. */
const trail = `
insert into outbox.audit_event (org_id, entity_type, entity_id, action, details, actor, created_at, correlation_id)
select 'org-' || n % 2, 'PERSON', n::text, 'OPTED_OUT', 'x',
  case n when 1 then (select string_agg(md5(m::text), '') from generate_series(1, 250) m) else 'anna' end,
  timestamptz '2026-03-01' + n * interval '1 s', 'cart-' || n
from generate_series(1, 100) n;
`
/** All rows as they were. */
const trailFacts = `
select count(*), max(id), md5(string_agg(concat_ws(' ', id, org_id, entity_type, entity_id, action, details, actor,
  extract(epoch from created_at), correlation_id), ',' order by id))
from outbox.audit_event`

for (const isWhole of [true, false]) {
  const what = isWhole ? 'keeps the audit trail of messages' : 'without messages has an audit trail'
  Deno.test(`the upgrade of the candidate ${what}, and records who acts`, async () => {
    const release = await stored()
    await using pg = await startTestPostgres()
    const run = async (sql: string): Promise<string> => {
      const { code, stdout, stderr } = await pg.psql(sql)
      expect([code, stderr]).toEqual([0, ''])
      return stdout
    }
    const of = (files: SqlFile[]): SqlFile[] =>
      files.filter(({ path }) => isWhole || /(?:^|_)(?:core|api|extensions)(?:_|\.|$)/.test(path))
    await applyFiles(pg, of(await installation(release)))
    if (isWhole) await run(trail)
    const before = isWhole ? await run(trailFacts) : ''
    await applyFiles(pg, of(await upgrade(release)))
    if (isWhole) expect(await run(trailFacts)).toBe(before)
    await run(`select outbox.set_setting('limit.endpoints', '7')`)
    const rows = `select count(*), max(id) > ${isWhole ? 100 : 0}, bool_and(actor like 'sql:%')
      from outbox.audit_event where action = 'CHANGED'`
    expect(await run(rows)).toBe('1|t|t')
    const listed = `select jsonb_array_length(outbox.list_audit_events('org-1') -> 'data')`
    expect(await run(listed)).toBe(isWhole ? '50' : '0')
    // Of the limit of the trail, nothing that was written before is used up.
    await run(`select set_config('request.headers', '{"a": "b"}', false),
      set_config('outhook.actor', 'portal:zoe', false), outbox.set_org_setting('org-1', 'limit.endpoints', '7')`)
    expect(await run('select org_id, n from outbox.audit_count')).toBe('org-1|1')
  })
}

Deno.test('the upgrade of the candidate under load loses nothing, with a worker of today before and after it', async () => {
  const release = await stored()
  const files = await upgrade(release)
  await using pg = await startTestPostgres()
  await applyFiles(pg, await installation(release))
  const worker = startWorker(pg.dbUrl)
  try {
    await using traffic = await beginTraffic(pg.dbUrl)
    const moreArrive = async (): Promise<void> => {
      const enough = traffic.arrived() + 50
      const some = (): boolean => traffic.arrived() >= enough
      if (await waitUntil(some, { timeoutMs: patienceMs })) return
      throw new Error(`${traffic.errors.slice(-3)}\n${worker.log.slice(-20).join('\n')}`)
    }
    await moreArrive()
    // Again, if a lock was not free in time.
    await migrate(pg.dbUrl, files)
    await moreArrive()
    await traffic.quiet()
    await traffic.until(`not exists (select from outbox.unrouted)
      and not exists (select from outbox.delivery d join outbox.endpoint e on e.id = d.endpoint_id
        where e.description in ('plain', 'keyed'))`)
    expect(traffic.arrived()).toBe(traffic.published.length)
    expect(traffic.errors).toEqual([])
    const [row] = await traffic.sql`select outbox.module_problem() as problem`
    expect(row?.problem).toBeNull()
  } finally {
    worker.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
  }
})
