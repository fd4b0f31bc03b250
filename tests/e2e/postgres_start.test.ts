import { expect } from '@std/expect'
import { startTestPostgres } from '../_support/postgres.ts'

Deno.test('startPostgres() gives a database with the platform roles and pg_cron', async () => {
  await using pg = await startTestPostgres()
  const who = await pg.psql('select current_user, current_setting($$is_superuser$$)')
  expect(who.stdout).toBe('postgres|off')
})
