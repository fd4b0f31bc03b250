/** `outhook move-org` by the packed command, which brings its own driver, between two databases. */

import { expect } from '@std/expect'
import type { Sql } from 'postgres'
import { on, startTwoDatabases, type TwoDatabases } from './_support/two_databases.ts'

let databases: TwoDatabases

Deno.test.beforeAll(async () => {
  databases = await startTwoDatabases()
})
Deno.test.afterAll(async () => {
  await databases?.[Symbol.asyncDispose]()
})

/** Runs the command with the options of the page. */
async function move(
  ...options: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { project, one, two } = databases
  const env = { OUTHOOK_FROM_DB_URL: one.dbUrl, OUTHOOK_TO_DB_URL: two.dbUrl }
  return await project.runWith(
    env,
    ...['move-org', 'org-123', '--from', 'eu-1', '--to', 'eu-2', ...options],
  )
}

Deno.test('the commands of the page move an organisation, and delete what the source still has', async () => {
  const { one, two } = databases
  await on(one, async (sql) => {
    await sql`select outbox.create_endpoint('https://example.com/hook', '{a}', 'org-123')`
    await sql`select outbox.publish('a', '{}', 'org-123')`
    await sql`select outbox.dispatch('00000000-0000-7000-8000-000000000001', 1, '[]'::jsonb, 0)`
  })
  expect(await move('--dry-run')).toMatchObject({
    code: 0,
    stdout:
      'org-123 in eu-1 (no move): endpoints 1, open deliveries 1, dead letters 0\norg-123 in eu-2 (no move): endpoints 0\n',
  })
  const { code, stderr } = await move('--yes')
  expect([code, stderr.trim().split('\n').at(-1)]).toEqual([
    0,
    'Open deliveries that have ended in the source: 1. Their attempts say where they went',
  ])
  expect((await move('--undo', '--yes')).code).toBe(1)
  expect((await move('--finish', '--yes')).code).toBe(0)
  const totals = async (sql: Sql): Promise<unknown> => [
    ...await sql`select outbox.move_totals('org-123') as totals`,
  ]
  expect(await on(one, totals)).toEqual([{ totals: { endpoints: 0, open: 0, dead_letters: 0 } }])
  expect(await on(two, totals)).toEqual([{ totals: { endpoints: 1, open: 1, dead_letters: 0 } }])
  // Each side keeps its trail, and names the other one.
  const trail = async (sql: Sql): Promise<string[]> => {
    const rows = await sql<{ line: string }[]>`
      select concat_ws(' ', action, data ->> 'other', actor) as line from outbox.audit_event
      where org_id = 'org-123' order by id`
    return rows.map(({ line }) => line)
  }
  const [who] = await on(one, (sql) => sql`select 'sql:' || session_user as actor`)
  expect(await on(one, trail)).toEqual(
    ['CREATED', 'MOVE_BEGUN eu-2', 'MOVE_CLOSED eu-2', 'MOVED eu-2', 'MOVE_FINISHED eu-2']
      .map((line) => `${line} ${who?.actor}`),
  )
  expect(await on(two, trail)).toEqual(
    ['MOVE_BEGUN eu-1', 'MOVED eu-1'].map((line) => `${line} ${who?.actor}`),
  )
})
