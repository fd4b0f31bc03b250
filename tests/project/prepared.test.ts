import { expect } from '@std/expect'
import { testFolder } from '../_support/folder.ts'
import { startTestPostgres } from '../_support/postgres.ts'
import { copyPrepared } from '../_support/prepared.ts'

Deno.test('copyPrepared() gives each test a cluster of its own, whose jobs run on its own port', async () => {
  await using one = await startTestPostgres({ migrated: true })
  await using other = await startTestPostgres({ migrated: true })
  expect((await one.psql('create table public.mine ()')).stderr).toBe('')
  expect((await other.psql(`select to_regclass('public.mine') is null`)).stdout).toBe('t')
  for (const pg of [one, other]) {
    const ports = await pg.psql('select distinct nodeport from cron.job')
    expect(ports.stdout).toBe(String(pg.port))
    const secret = await pg.psql(`
      do $$ begin perform vault.create_secret('s', 'mine'); end $$;
      select decrypted_secret from vault.decrypted_secrets where name = 'mine'`)
    expect(secret.stdout).toBe('s')
  }
})

Deno.test('copyPrepared() makes the cluster once when many ask for it at the same time', async () => {
  const folders = Array.from({ length: 4 }, () => testFolder())
  try {
    await Promise.all(folders.map((folder) => copyPrepared(folder, 'platform')))
    const versions = folders.map((folder) => Deno.readTextFileSync(`${folder}/pg/PG_VERSION`))
    expect(new Set(versions).size).toBe(1)
  } finally {
    await Promise.all(folders.map((folder) => Deno.remove(folder, { recursive: true })))
  }
})
