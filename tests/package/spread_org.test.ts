/** `outhook spread-org` by the packed command, between two databases. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { buildCommand } from '../../package/build/command.ts'
import { buildFunctions } from '../../package/build/functions.ts'
import { homeOf } from '../../package/command/spread_org/plan.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { testFolder } from '../_support/folder.ts'
import { startTestPostgres, type TestPostgres } from '../_support/postgres.ts'
import { docsBlock } from '../project/_docs.ts'
import { type Shop, shopIn } from './_support/shop.ts'

const root = testFolder()
let project: Shop
let one: TestPostgres
let two: TestPostgres

Deno.test.beforeAll(async () => {
  await buildFunctions(projectRoot, join(root, 'dist'))
  const { tarball } = await buildCommand(projectRoot, join(root, 'dist'))
  project = await shopIn(root, tarball)
  one = await startTestPostgres({ migrated: true })
  two = await startTestPostgres({ migrated: true })
})
Deno.test.afterAll(async () => {
  await one?.[Symbol.asyncDispose]()
  await two?.[Symbol.asyncDispose]()
  await Deno.remove(root, { recursive: true })
})

/** Connects to a database for the time of `use`. */
async function on<T>({ dbUrl }: TestPostgres, use: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = postgres(dbUrl, { max: 1, onnotice: () => {} })
  try {
    return await use(sql)
  } finally {
    await sql.end()
  }
}

type Ended = { code: number; stdout: string; stderr: string }

async function run(args: readonly string[]): Promise<Ended> {
  const env = { OUTHOOK_INTO_EU_1: one.dbUrl, OUTHOOK_INTO_EU_2: two.dbUrl }
  return await project.runWith(env, ...args)
}

/** The commands of the page, without and with --yes. */
function commands(): string[][] {
  return docsBlock('spread-command').split('\n')
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

Deno.test('the commands of the page move each endpoint to the database of its hash, once', async () => {
  await on(one, async (sql) => {
    await sql`
      select outbox.create_endpoint('https://example.com/' || n, '{a}', 'org-1') from generate_series(1, 30) n`
  })
  const all = await endpointsIn(one)
  const of = (name: string): string[] => all.filter((id) => homeOf(['eu-1', 'eu-2'], id) === name)
  const [dryRun = [], real = []] = commands()
  const planned = await run(dryRun)
  expect([planned.code, planned.stdout.split('\n')[0]]).toEqual([
    0,
    `Endpoints of org-1 where they belong: ${of('eu-1').length}, to move: ${
      of('eu-2').length
    }, on their way: 0, staying for now: 0`,
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

Deno.test('an emptied database gives its endpoints back, except one with an open delivery, which is named', async () => {
  const [busy] = await endpointsIn(one)
  const args = [
    'spread-org',
    'org-1',
    '--database',
    'eu-1',
    '--database',
    'eu-2',
    '--empty',
    'eu-1',
    '--yes',
  ]
  await on(one, async (sql) => {
    await sql`select outbox.send_test_event(${busy ?? ''})`
    await sql`select outbox.dispatch('00000000-0000-7000-8000-000000000001', 1, '[]'::jsonb, 0)`
  })
  const { code, stdout } = await run(args)
  expect([code, stdout.trim().split('\n').at(-1)]).toEqual([
    5,
    expect.stringContaining(`eu-1: ${busy} has open deliveries: 1. Wait for their end`),
  ])
  expect(await endpointsIn(one)).toEqual([busy])
  expect(await endpointsIn(two)).toHaveLength(29)
})

Deno.test('outhook spread-org names what is wrong with its options, without a secret', async () => {
  const rows: [args: string[], says: string][] = [
    [[], 'Give at least one --database, such as --database eu-1'],
    [['--database', 'eu-9'], 'OUTHOOK_INTO_EU_9 is not set'],
    [['--database', 'eu-1', '--empty', 'eu-2'], '--empty eu-2 is not one of --database'],
    [['--database', 'eu-1', '--empty', 'eu-1'], 'Give at least one --database that is not --empty'],
  ]
  for (const [args, says] of rows) {
    const { code, stderr } = await run(['spread-org', 'org-1', ...args])
    expect([args, code, stderr.trim()]).toEqual([args, 2, says])
  }
})
