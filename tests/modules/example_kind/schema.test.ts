/** ntfy.sql on the core, on each other module and on all: what it adds, who may call it, and that drop.sql removes it. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import postgres from 'postgres'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { compareSnapshots, takeSnapshot } from '../../../supabase/local/schema/snapshot.ts'
import { checkSql } from '../../_lint/sql_rules.ts'
import { startTestPostgres } from '../../_support/postgres.ts'
import { combinations, install, modules, nameOf } from '../_support/modules.ts'
import { codeFile, foreignNames } from '../_support/names.ts'
import { problems } from '../_support/problems.ts'

const folder = 'tests/modules/example_kind'
const moduleSql = await Deno.readTextFile(join(projectRoot, folder, 'ntfy.sql'))
const dropSql = await Deno.readTextFile(join(projectRoot, folder, 'drop.sql'))
const [core] = modules
if (core === undefined) throw new Error('sql/order.txt names no module')

Deno.test('ntfy.sql names objects of the core only, and keeps the rules for SQL', () => {
  expect(foreignNames(codeFile('ntfy', `${folder}/ntfy.sql`, moduleSql), [core.name])).toEqual([])
  for (const text of [moduleSql, dropSql]) {
    expect(checkSql(text, { mayCatchOthers: [] })).toEqual([])
  }
  for (const [definition] of moduleSql.matchAll(/^create function [^]*?\nas \$\$/gm)) {
    expect(definition).toContain("set search_path = ''")
  }
})

for (const combination of [combinations[0] ?? [], combinations[1] ?? [], modules]) {
  Deno.test(`on ${nameOf(combination)}, ntfy.sql passes plpgsql_check and drop.sql removes it`, async () => {
    await using pg = await startTestPostgres()
    await install(pg, combination)
    const before = await takeSnapshot(pg)
    const sql = postgres(pg.dbUrl, { max: 1, onnotice: () => {} })
    try {
      await sql.begin((tx) => tx.unsafe(moduleSql))
      const added = [...(await takeSnapshot(pg)).keys()].filter((key) => !before.has(key))
      expect(added.filter((key) => !key.includes('ntfy'))).toEqual([])
      expect(added.length).toBeGreaterThan(20)
      const found = await sql.unsafe(problems)
      expect(found.map(({ problem }) => String(problem))).toEqual([])
      await sql.begin((tx) => tx.unsafe(dropSql))
      const differences = compareSnapshots(['before', before], ['after', await takeSnapshot(pg)])
      expect(differences.join('\n')).toBe('')
    } finally {
      await sql.end()
    }
  })
}

Deno.test('ntfy.sql on the core', async (t) => {
  await using pg = await startTestPostgres()
  await install(pg, [core])
  const sql = postgres(pg.dbUrl, { max: 1, onnotice: () => {} })
  await sql.begin((tx) => tx.unsafe(moduleSql))
  const create = async (...args: (string | number)[]): Promise<string> => {
    const [row] = await sql.unsafe(
      `select outbox.create_ntfy_endpoint(${args.map((_, at) => `$${at + 1}`).join(', ')}) as new`,
      args,
    )
    return row?.new.id
  }
  /** The SQLSTATE and the field of the error. */
  const refused = (call: Promise<unknown>): Promise<string> =>
    call.then(() => 'accepted', (error) => `${error.code} ${error.detail ?? error.message}`)

  await t.step('the public functions are those of service_role', async () => {
    const rows = await sql`
      select p.proname as name, r.role
      from pg_proc p
      cross join (values ('service_role'), ('anon'), ('authenticated')) r (role)
      where p.pronamespace = 'outbox'::regnamespace and p.proname like '%ntfy%'
        and has_function_privilege(r.role, p.oid, 'execute') order by 1`
    expect(rows.map(({ name, role }) => [name, role])).toEqual([
      ['create_ntfy_endpoint', 'service_role'],
      ['set_ntfy_token', 'service_role'],
    ])
  })

  await t.step('create_ntfy_endpoint() stores the token in Vault only', async () => {
    const id = await create('https://ntfy.example.com', 'orders', 'tk_secret')
    const [row] = await sql`
      select e::text as whole, e.url, e.config,
        outbox.stored_credentials(e.credentials_vault_id) as credentials,
        outbox.retry_preset(e.kind) -> 'delays' as delays
      from outbox.endpoint e where e.id = ${id}`
    expect(row).toMatchObject({
      url: 'https://ntfy.example.com',
      config: { topic: 'orders', priority: 3 },
      credentials: { token: 'tk_secret' },
      delays: [2, 10, 60, 300],
    })
    expect(row?.whole).not.toContain('tk_secret')
    await sql`select outbox.set_ntfy_token(${id}, 'tk_other')`
    const [changed] = await sql`
      select outbox.stored_credentials(e.credentials_vault_id) as credentials, e.version
      from outbox.endpoint e where e.id = ${id}`
    expect(changed).toMatchObject({ credentials: { token: 'tk_other' }, version: 2 })
  })

  await t.step('an invalid argument is named', async () => {
    const rows: [args: (string | number)[], error: string][] = [
      [['http://ntfy.example.com', 'orders', 'tk_a'], 'OH001 url'],
      [['https://10.0.0.1', 'orders', 'tk_a'], 'OH001 url'],
      [['https://ntfy.example.com', '', 'tk_a'], 'OH001 config.topic'],
      [['https://ntfy.example.com', 'a'.repeat(64), 'tk_a'], 'accepted'],
      [['https://ntfy.example.com', 'a'.repeat(65), 'tk_a'], 'OH001 config.topic'],
      [['https://ntfy.example.com', 'a b', 'tk_a'], 'OH001 config.topic'],
      [['https://ntfy.example.com', 'orders', ''], 'OH001 credentials.token'],
      [['https://ntfy.example.com', 'orders', 'a\nb'], 'OH001 credentials.token'],
      [['https://ntfy.example.com', 'orders', 'a'.repeat(200)], 'accepted'],
      [['https://ntfy.example.com', 'orders', 'a'.repeat(201)], 'OH001 credentials.token'],
      [['https://ntfy.example.com', 'orders', 'tk_a', 1], 'accepted'],
      [['https://ntfy.example.com', 'orders', 'tk_a', 5], 'accepted'],
      [['https://ntfy.example.com', 'orders', 'tk_a', 0], 'OH001 config.priority'],
      [['https://ntfy.example.com', 'orders', 'tk_a', 6], 'OH001 config.priority'],
    ]
    for (const [args, error] of rows) {
      expect([args, await refused(create(...args))]).toEqual([args, error])
    }
    const [webhook] = await sql`select outbox.create_endpoint('https://example.com') ->> 'id' as id`
    expect(await refused(sql`select outbox.set_ntfy_token(${webhook?.id}, 'tk_a')`))
      .toBe(`OH004 endpoint ${webhook?.id} is not of kind ntfy`)
  })

  await t.step('each code has its rule', async () => {
    const rows: [status: number, code: string | null, errorClass: string, action: string][] = [
      [401, '40101', 'status', 'hold'],
      [403, '40301', 'status', 'hold'],
      [429, '42904', 'status', 'hold'],
      [429, '42908', 'status', 'throttle'],
      [429, '42901', 'status', 'throttle'],
      [400, '40017', 'status', 'fail'],
      [500, '50001', 'status', 'retry'],
      [200, null, 'ntfy.response', 'retry'],
    ]
    for (const [status, code, errorClass, action] of rows) {
      const [rule] = await sql`
        select (outbox.failure_rule_of('ntfy', ${status}, ${errorClass}, ${code})).*`
      expect([code, rule?.action]).toEqual([code, action])
    }
  })

  await t.step('its setting has bounds', async () => {
    const set = (value: number): Promise<string> =>
      refused(sql`select outbox.set_setting('ntfy.resume_after_s', ${sql.json(value)})`)
    expect([await set(1), await set(604_800), await set(0), await set(604_801)])
      .toEqual(['accepted', 'accepted', ...Array(2).fill('OH005 ntfy.resume_after_s')])
  })

  await t.step(
    'drop.sql refuses while an endpoint exists, and removes all of a purged one',
    async () => {
      const drop = (): Promise<unknown> => sql.begin((tx) => tx.unsafe(dropSql))
      expect(await refused(drop())).toBe('OH004 there are endpoints of kind ntfy')
      await sql`select outbox.delete_endpoint(e.id) from outbox.endpoint e where e.kind = 'ntfy'`
      expect(await refused(drop())).toBe('OH004 there are endpoints of kind ntfy')
      await sql`select outbox.purge_deleted(1000)`
      await drop()
      const [left] = await sql`
      select count(*)::integer as n from vault.secrets
      where description = 'Credentials of an Outhook endpoint'`
      expect(left).toEqual({ n: 0 })
    },
  )
  await sql.end()
})
