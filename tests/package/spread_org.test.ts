/** `outhook spread-org` by the packed command, between two databases. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { homeOf } from '../../package/command/spread_org/plan.ts'
import type { TestPostgres } from '../_support/postgres.ts'
import { docsBlock } from '../project/_docs.ts'
import type { Ended } from './_support/shop.ts'
import { on, startTwoDatabases, type TwoDatabases } from './_support/two_databases.ts'

let databases: TwoDatabases

Deno.test.beforeAll(async () => {
  databases = await startTwoDatabases()
  await Deno.writeTextFile(
    join(databases.project.path, 'routes.json'),
    docsBlock('spread-routes'),
  )
})
Deno.test.afterAll(async () => {
  await databases?.[Symbol.asyncDispose]()
})

async function run(args: readonly string[]): Promise<Ended> {
  const { project, one, two } = databases
  const env = { OUTHOOK_INTO_EU_1: one.dbUrl, OUTHOOK_INTO_EU_2: two.dbUrl }
  return await project.runWith(env, ...args)
}

/** The commands of a block of the page. */
function commands(block: string): string[][] {
  return docsBlock(block).split('\n')
    .filter((line) => line.startsWith('npx '))
    .map((line) => line.replace('npx --no outhook ', '').split(' '))
}

/** The ids of the endpoints of a database. */
async function endpointsIn(database: TestPostgres): Promise<string[]> {
  return await on(database, async (sql) => {
    const rows = await sql<{ id: string }[]>`
      select e.id from outbox.endpoint e where e.status = 'enabled' order by e.id`
    return rows.map(({ id }) => id)
  })
}

/** Each takes these events of org-1, as `outhook consume` does. */
async function takeAll(keys: readonly string[]): Promise<void> {
  const events = keys.map((key) => ({
    ...{ id: key, type: 'b', body: '{}', org_id: 'org-1', idempotency_key: key },
  }))
  for (const database of [databases.one, databases.two]) {
    await on(database, async (sql) => {
      await sql`select outbox.take_events('into', ${JSON.stringify(events)}::text::jsonb)`
      await sql`select outbox.dispatch(${crypto.randomUUID()}, 1, '[]'::jsonb, 0)`
    })
  }
}

Deno.test('the commands of the page move each endpoint to the database of its hash, once', async () => {
  const { one, two } = databases
  await takeAll(['first', 'second'])
  await on(one, async (sql) => {
    await sql`
      select outbox.create_endpoint('https://example.com/' || n, '{a}', 'org-1') from generate_series(1, 30) n`
  })
  const all = await endpointsIn(one)
  const of = (name: string): string[] => all.filter((id) => homeOf(['eu-1', 'eu-2'], id) === name)
  const [dryRun = [], real = []] = commands('spread-command')
  const planned = await run(dryRun)
  expect([
    planned.code,
    planned.stdout.split('\n')[0],
    planned.stdout.trim().split('\n').at(-1),
  ]).toEqual([
    0,
    `Endpoints of org-1 where they belong: ${of('eu-1').length}, to move: ${
      of('eu-2').length
    }, on their way: 0, staying for now: 0`,
    'eu-1 and eu-2 have taken the same events',
  ])
  expect((await run(real.filter((word) => word !== '--yes'))).code).toBe(3)
  expect(await endpointsIn(one)).toEqual(all)
  const moved = await run(real)
  expect([moved.code, moved.code === 0 ? '' : moved.stderr]).toEqual([0, ''])
  expect(await endpointsIn(one)).toEqual(of('eu-1'))
  expect(await endpointsIn(two)).toEqual(of('eu-2'))
  const again = await run(real)
  expect([again.code, again.stderr]).toEqual([0, ''])
})

Deno.test('an emptied database gives its endpoints away, except one that the page says to resume before', async () => {
  const { one, two } = databases
  const [busy, paused] = await endpointsIn(two)
  await on(two, async (sql) => {
    await sql`select outbox.pause_endpoint(${paused ?? ''}, 'lunch')`
    await sql`select outbox.send_test_event(${busy ?? ''})`
    await sql`select outbox.dispatch(${crypto.randomUUID()}, 1, '[]'::jsonb, 0)`
  })
  const [args = []] = commands('spread-empty')
  const { code, stdout } = await run(args)
  const named = stdout.trim().split('\n').slice(-2)
  expect([code, named.toSorted((left) => left.includes(`${busy}`) ? -1 : 1)]).toEqual([
    5,
    [
      expect.stringContaining(`eu-2: ${busy} has open deliveries: 1. Wait for their end`),
      `eu-2: ${paused} is paused: resume it first, or delete it`,
    ],
  ])
  expect(await endpointsIn(one)).toHaveLength(28)
  const staying = await on(two, (sql) => sql.unsafe(docsBlock('spread-staying')))
  expect([...staying]).toEqual([
    { id: paused, kind: 'webhook', status: 'paused', status_reason: 'lunch' },
  ])
  await on(two, async (sql) => {
    await sql`select outbox.resume_endpoint(${paused ?? ''})`
    await sql`select outbox.cancel_delivery(d.event_id, d.endpoint_id) from outbox.open_delivery d`
  })
  const last = await run(args)
  expect([last.code, last.code === 0 ? '' : last.stdout + last.stderr]).toEqual([0, ''])
  expect(await endpointsIn(one)).toHaveLength(30)
})

Deno.test('outhook spread-org names what is wrong with its options, without a secret', async () => {
  const rows: [args: string[], says: string][] = [
    [[], 'Give at least one --database, such as --database eu-1'],
    [['--database', 'eu-9'], 'OUTHOOK_INTO_EU_9 is not set'],
    [['--database', 'eu-1', '--empty', 'eu-2'], '--empty eu-2 is not one of --database'],
    [['--database', 'eu-1', '--empty', 'eu-1'], 'Give at least one --database that is not --empty'],
    [['--database', 'eu-1'], 'eu-2 takes them, and may have endpoints: add --database eu-2'],
  ]
  for (const [args, says] of rows) {
    const { code, stderr } = await run(['spread-org', 'org-1', '--routes', 'routes.json', ...args])
    expect([args, code, stderr.trim().split('\n').at(-1)]).toEqual([args, 2, says])
  }
  const { code, stderr } = await run(['spread-org', 'org-1', '--database', 'eu-1'])
  expect([code, stderr.split('\n')[0]])
    .toEqual([2, "error: required option '--routes <file>' not specified"])
})
