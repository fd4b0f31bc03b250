/**
 * The `vault` stand-in keeps a secret a secret, and gives it to those whom the platform trusts. Where Postgres
 * has supabase_vault, the same tests run on it. It first writes the plain text and encrypts it in the same
 * transaction, so the data directory has it for a while: only the dump is without it.
 */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { ensurePostgres } from '../../supabase/local/postgres/mod.ts'
import { patienceMs } from '../_support/patience.ts'
import { startTestPostgres, type TestPostgres } from '../_support/postgres.ts'

const isReal = (await ensurePostgres({ log: () => {} })).platform.includes('supabase_vault')

let pg: TestPostgres

Deno.test.beforeAll(async () => {
  pg = await startTestPostgres()
})
Deno.test.afterAll(async () => {
  await pg.stop()
})

async function value(sql: string): Promise<string> {
  const { code, stdout, stderr } = await pg.psql(sql)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

Deno.test('vault.create_secret() stores what decrypted_secrets shows', async () => {
  const id = await value(`select vault.create_secret('s3cret ü 🔑', 'first', 'what for')`)
  expect(
    await value(`select id, name, description, decrypted_secret, secret <> decrypted_secret
    from vault.decrypted_secrets where name = 'first'`),
  ).toBe(
    `${id}|first|what for|s3cret ü 🔑|t`,
  )
})

Deno.test('vault.create_secret() refuses a name that is taken', async () => {
  const { stderr } = await pg.psql(`
    select vault.create_secret('a', 'taken');
    select vault.create_secret('b', 'taken');`)
  expect(stderr).toContain('secrets_name_idx')
})

Deno.test('vault.create_secret() gives equal secrets unequal ciphertexts', async () => {
  expect(
    await value(`
    select count(vault.create_secret('same')) from generate_series(1, 3);
    select count(distinct secret) from vault.decrypted_secrets where decrypted_secret = 'same'`),
  ).toBe('3\n3')
})

Deno.test('vault.update_secret() changes only what is given', async () => {
  expect(
    await value(`
    select vault.create_secret('old', 'name', 'description') as id \\gset
    select vault.update_secret(:'id', 'new');
    select name, description, decrypted_secret from vault.decrypted_secrets where id = :'id';
    select vault.update_secret(:'id', new_name => 'renamed');
    select name, description, decrypted_secret from vault.decrypted_secrets where id = :'id'`),
  ).toBe('\nname|description|new\n\nrenamed|description|new')
})

Deno.test('a secret moved to another row does not open', async () => {
  await value(`select vault.create_secret('mine', 'mine'), vault.create_secret('yours', 'yours')`)
  const { stderr } = await pg.psql(
    `begin;
    update vault.secrets as s set secret = o.secret, nonce = o.nonce
    from vault.secrets as o where s.name = 'mine' and o.name = 'yours';
    select decrypted_secret from vault.decrypted_secrets where name = 'mine';`,
    { as: 'supabase_admin' },
  )
  expect(stderr).toContain(isReal ? 'invalid ciphertext' : 'was changed outside Vault')
})

Deno.test('a dump holds no plain secret, nor does the data directory of the stand-in', async () => {
  const plain = `plain-${crypto.randomUUID()}`
  const marker = `marker-${crypto.randomUUID()}`
  // The description is stored as it is: the search that finds it would find the secret.
  await value(`select vault.create_secret('${plain}', new_description => '${marker}')`)
  await pg.psql('checkpoint', { as: 'supabase_admin' })
  const dump = await new Deno.Command(`${pg.binaries.bin}/pg_dump`, {
    args: ['--dbname', pg.adminDbUrl],
  }).output()
  expect(dump.success).toBe(true)
  const decoder = new TextDecoder('latin1')
  const dumped = decoder.decode(dump.stdout)
  expect([dumped.includes(marker), dumped.includes(plain)]).toEqual([true, false])
  const files = (await filesBelow(`${pg.dataDir}/pg`)).map((bytes) => decoder.decode(bytes))
  expect(files.some((text) => text.includes(marker))).toBe(true)
  expect(files.some((text) => text.includes(plain))).toBe(isReal)
})

Deno.test('decrypting a secret costs less than 100 µs', async () => {
  await value(`select count(vault.create_secret(repeat('x', 50))) from generate_series(1, 1000)`)
  // Other work on the machine only adds, so one quick round shows it: of few secrets, to pass without
  // interruption, and after a first one in its session, which loads the functions.
  const secrets = 20
  const round = `explain (analyze, timing off, summary, costs off)
    select count(s.decrypted_secret) from
      (select decrypted_secret from vault.decrypted_secrets limit ${secrets}) s;`
  const isQuick = async (): Promise<boolean> => {
    const plans = await value(round.repeat(50))
    const times = [...plans.matchAll(/Execution Time: ([\d.]+) ms/g)].map(([, ms]) => Number(ms))
    expect(times).toHaveLength(50)
    return Math.min(...times) < 0.1 * secrets
  }
  expect(await waitUntil(isQuick, { timeoutMs: patienceMs })).toBe(true)
})

async function filesBelow(folder: string): Promise<Uint8Array[]> {
  const found: Uint8Array[] = []
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory) found.push(...await filesBelow(path))
    else if (entry.isFile) found.push(await Deno.readFile(path).catch(() => new Uint8Array()))
  }
  return found
}
