/** The calls of docs/copies.md, on a database that a run of another project has been refused on. */

import { expect } from '@std/expect'
import type { Postgres } from '../../supabase/local/postgres/mod.ts'
import { withMigrations } from '../_support/postgres.ts'
import { docsBlock } from './_docs.ts'

async function query(pg: Postgres, sql: string): Promise<string> {
  const { code, stdout, stderr } = await pg.psql(sql)
  if (code !== 0) throw new Error(stderr)
  return stdout
}

/** A call of a run of that project: why it gets nothing, or an empty text. */
function callOf(pg: Postgres, project: string): Promise<string> {
  return query(
    pg,
    `select outbox.dispatch(gen_random_uuid(), 1, '[]', 0, 'worker', p_contract =>
      '{"oldest": 1, "newest": 1, "project": "${project}"}')::jsonb ->> 'stop'`,
  )
}

const open =
  `select (select count(*) from outbox.delivery) + (select count(*) from outbox.unrouted)`

/** A copy with three pending events of the project shop, on which a run of staging was refused. */
async function withCopy(test: (pg: Postgres) => Promise<void>): Promise<void> {
  await withMigrations(async (pg) => {
    await query(pg, `select outbox.create_endpoint('https://example.com/hook')`)
    await query(pg, `select outbox.publish('order.paid', '{}') from generate_series(1, 3)`)
    expect(await callOf(pg, 'shop')).toBe('')
    expect(await callOf(pg, 'shop-staging')).toBe('another_project')
    expect(await query(pg, open)).toBe('3')
    await test(pg)
  })
}

async function decided(pg: Postgres, block: string): Promise<unknown> {
  return JSON.parse(await query(pg, docsBlock(block)))
}

Deno.test('a copy that stays stopped gets nothing, and health says that it is stopped', async () => {
  await withCopy(async (pg) => {
    expect(await decided(pg, 'copy-stop'))
      .toEqual({ decision: 'stay_stopped', project: 'shop-staging', was_project: 'shop' })
    expect(await callOf(pg, 'shop-staging')).toBe('another_project')
    expect(await query(pg, 'select problems::text from outbox.queue_health'))
      .toContain('copy of the project shop and stays stopped')

    // It can be decided again.
    expect(await decided(pg, 'copy-cancel')).toMatchObject({ cancelled: { deliveries: 3 } })
    expect(await callOf(pg, 'shop-staging')).toBe('')
  })
})

Deno.test('a further name of the project is confirmed, and no other', async () => {
  await withMigrations(async (pg) => {
    await query(pg, `select outbox.create_endpoint('https://example.com/hook')`)
    expect(await callOf(pg, 'shop')).toBe('')
    expect(await callOf(pg, 'https://api.example.com')).toBe('another_project')
    expect(await decided(pg, 'copy-same'))
      .toEqual({ decision: 'same_project', project: 'api.example.com', was_project: 'shop' })
    expect(await callOf(pg, 'https://api.example.com')).toBe('')
    expect(await callOf(pg, 'shop')).toBe('')
    expect(await callOf(pg, 'shop-staging')).toBe('another_project')
  })
})

Deno.test('a copy pauses its endpoints, and cancels what is pending', async () => {
  await withCopy(async (pg) => {
    await query(pg, docsBlock('copy-pause'))
    expect(await query(pg, 'select status, status_reason from outbox.endpoint'))
      .toBe('paused|a copy')
    expect(await decided(pg, 'copy-cancel')).toEqual({
      decision: 'cancel_pending',
      project: 'shop-staging',
      was_project: 'shop',
      cancelled: { deliveries: 3, replay_jobs: 0 },
      more: false,
    })
    expect(await query(pg, open)).toBe('0')
    expect(await callOf(pg, 'shop-staging')).toBe('')
    expect(await callOf(pg, 'shop')).toBe('another_project')
  })
})

Deno.test('a copy that delivers what is pending keeps it', async () => {
  await withCopy(async (pg) => {
    expect(await decided(pg, 'copy-deliver'))
      .toEqual({ decision: 'deliver_pending', project: 'shop-staging', was_project: 'shop' })
    expect(await query(pg, open)).toBe('3')
    expect(await callOf(pg, 'shop-staging')).toBe('')
  })
})
