/** An upgrade and a transaction that lock the same tables in opposite orders. */

import { expect } from '@std/expect'
import postgres from 'postgres'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { buildUpgradeFiles } from '../../supabase/local/schema/upgrade_files.ts'
import { patienceMs } from '../_support/patience.ts'
import { startTestPostgres } from '../_support/postgres.ts'
import { makeSample } from './_sample.ts'

Deno.test('an upgrade gives way before Postgres ends a waiting transaction as a deadlock', async () => {
  await using sample = await makeSample()
  await using pg = await startTestPostgres({ migrated: true })
  const { files } = await buildUpgradeFiles(sample.root, sample.release)
  const text = files[0]?.text ?? ''
  // The sample changes dead_letter, and then attempt.
  const second = text.indexOf('create index attempt_failures')
  expect(second).toBeGreaterThan(0)

  const sql = postgres(pg.dbUrl, { max: 3, onnotice: () => {} })
  const upgrade = await sql.reserve()
  try {
    await sql.begin(async (writer) => {
      await writer`lock table outbox.attempt in row exclusive mode`
      await upgrade.unsafe(`begin;\n${text.slice(0, second)}`)
      const written = writer`lock table outbox.dead_letter in row exclusive mode`.execute()
      const isWaiting = async (): Promise<boolean> => {
        const [row] = await sql`select exists (select from pg_locks
          where relation = 'outbox.dead_letter'::regclass and not granted) as yes`
        return row?.yes === true
      }
      expect(await waitUntil(isWaiting, { timeoutMs: patienceMs, everyMs: 10 })).toBeTruthy()
      const changed = upgrade.unsafe(text.slice(second)).simple()
      await expect(changed).rejects.toMatchObject({ code: '55P03' })
      await upgrade`rollback`
      await written
    })
  } finally {
    upgrade.release()
    await sql.end({ timeout: 1 })
  }
})
