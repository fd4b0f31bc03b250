/** What each role can and cannot do, compared with what the platform lets it do. */

import { expect } from '@std/expect'
import { startTestPostgres, type TestPostgres } from '../_support/postgres.ts'
import { ensurePostgres, type Login } from '../../supabase/local/postgres/mod.ts'

type Role = Login | 'anon' | 'authenticated' | 'service_role'

/** A statement and its outcome: null when it succeeds, else the SQLSTATE. */
type Case = [role: Role, statement: string, outcome: string | null]

const DENIED = '42501'

/** A call of what only Vault itself may call, of the extension or of its stand-in. */
const vaultKey = (await ensurePostgres({ log: () => {} })).platform.includes('supabase_vault')
  ? `select vault._crypto_aead_det_noncegen()`
  : `select vault._key('encrypt')`

const CASES: Case[] = [
  // postgres owns the database and is no superuser.
  ['postgres', 'create schema own', null],
  ['postgres', 'create table public.own ()', null],
  ['postgres', 'create table extensions.own ()', null],
  ['postgres', 'create role own', null],
  ['postgres', 'create database own', null],
  ['postgres', 'create extension citext with schema extensions', null],
  ['postgres', 'create extension if not exists pg_cron', null],
  ['postgres', 'create extension if not exists pgtap with schema extensions', null],
  ['postgres', 'create extension if not exists plpgsql_check', null],
  ['postgres', 'create extension file_fdw', DENIED],
  ['postgres', 'create table auth.own ()', DENIED],
  ['postgres', 'create table net.own ()', DENIED],
  ['postgres', 'alter system set work_mem = 64', DENIED],
  ['postgres', `alter database postgres set app.own = 'x'`, DENIED],
  ['postgres', 'alter role anon set statement_timeout = 3000', null],
  ['postgres', 'alter role service_role set statement_timeout = 60000', null],
  ['postgres', 'alter role postgres nosuperuser', DENIED],
  ['postgres', 'alter role postgres nobypassrls', DENIED],
  ['postgres', 'alter role supabase_admin set work_mem = 64', DENIED],
  ['postgres', 'set role supabase_admin', DENIED],
  ['postgres', 'set role service_role', null],
  ['postgres', 'set role authenticated', null],
  ['postgres', 'set role anon', null],
  ['postgres', 'create role app; grant app to authenticator', null],
  ['postgres', `select pg_read_file('../vault.key')`, DENIED],
  ['postgres', `copy (select 1) to program 'true'`, DENIED],
  ['postgres', 'select * from pg_stat_activity', null],
  ['postgres', 'select * from extensions.pg_stat_statements', null],
  [
    'postgres',
    `create function public.watch() returns event_trigger language plpgsql as 'begin end';
     create event trigger watch on ddl_command_end execute function public.watch()`,
    DENIED,
  ],

  // Row level security passes postgres and service_role by; a missing grant does not.
  ['postgres', 'select * from public.guarded', null],
  ['service_role', 'select 1 / count(*) from public.guarded', null],
  ['authenticated', 'select 1 / count(*) from public.guarded', '22012'],
  ['anon', 'select * from public.guarded', DENIED],
  ['service_role', 'select * from public.plain', DENIED],
  ['authenticated', 'select * from public.plain', DENIED],
  ['service_role', 'select public.new_function()', null],
  ['anon', 'select public.new_function()', null],
  ['service_role', 'create table public.own ()', DENIED],
  ['authenticated', 'create table public.own ()', DENIED],

  // Vault.
  ['postgres', `select vault.create_secret('x')`, null],
  ['postgres', 'select decrypted_secret from vault.decrypted_secrets', null],
  ['postgres', 'delete from vault.secrets where false', null],
  ['postgres', `insert into vault.secrets (secret, nonce) values ('x', '')`, DENIED],
  ['postgres', `update vault.secrets set name = 'x' where false`, DENIED],
  ['postgres', vaultKey, DENIED],
  ['service_role', `select vault.create_secret('x')`, null],
  ['service_role', 'select decrypted_secret from vault.decrypted_secrets', null],
  ['service_role', vaultKey, DENIED],
  ['authenticated', `select vault.create_secret('x')`, DENIED],
  ['authenticated', 'select * from vault.decrypted_secrets', DENIED],
  ['anon', 'select * from vault.secrets', DENIED],
  ['authenticator', 'select * from vault.secrets', DENIED],

  // pg_net is open to everybody, and postgres cannot close it.
  ['postgres', `select net.http_post('http://127.0.0.1:1')`, null],
  ['anon', `select net.http_get('http://127.0.0.1:1')`, null],
  ['authenticated', 'select * from net.http_request_queue', null],
  ['service_role', 'delete from net._http_response where false', null],
  ['postgres', 'revoke all on schema net from public; set role anon; select net.wake()', null],

  // pg_cron is for postgres alone.
  ['postgres', `select cron.schedule('own', '@daily', 'select 1')`, null],
  ['postgres', `select cron.alter_job(jobid, active => false) from cron.job`, null],
  ['postgres', `select cron.unschedule(jobid) from cron.job where jobname = 'own'`, null],
  ['postgres', `select cron.unschedule('missing')`, 'XX000'],
  ['postgres', `update cron.job set active = false where false`, DENIED],
  ['postgres', 'delete from cron.job where false', DENIED],
  ['postgres', 'delete from cron.job_run_details where false', null],
  ['service_role', `select cron.schedule('own', '@daily', 'select 1')`, DENIED],
  ['authenticated', 'select * from cron.job', DENIED],

  // authenticator can become one of three, and nothing else.
  ['authenticator', 'set role anon', null],
  ['authenticator', 'set role authenticated', null],
  ['authenticator', 'set role service_role', null],
  ['authenticator', 'set role postgres', DENIED],
  ['authenticator', 'set role supabase_admin', DENIED],
  ['authenticator', 'select * from public.plain', DENIED],

  [
    'authenticated',
    'select auth.uid(), auth.role(), auth.jwt(), extensions.gen_random_uuid()',
    null,
  ],
]

const FIXTURE = `
create table public.plain (id integer);
create table public.guarded (id integer);
insert into public.guarded values (1);
alter table public.guarded enable row level security;
grant select on public.guarded to authenticated, service_role;
create function public.new_function() returns integer language sql as 'select 1';`

let pg: TestPostgres

Deno.test.beforeAll(async () => {
  pg = await startTestPostgres()
  expect((await pg.psql(FIXTURE)).stderr).toBe('')
})
Deno.test.afterAll(async () => {
  await pg.stop()
})

/**
 * Runs `sql` as the role and takes it back where that is possible; API roles come in as
 * authenticator.
 */
async function outcome(role: Role, sql: string): Promise<string | null> {
  const login = role === 'postgres' || role === 'supabase_admin' ? role : 'authenticator'
  const become = login === role ? '' : `set role ${role};`
  const script = /^create database|^alter system/.test(sql)
    ? sql
    : `begin;${become}${sql};rollback;`
  const { code, stderr } = await pg.psql(`\\set VERBOSITY sqlstate\n${script}`, { as: login })
  if (code === 0) return null
  return stderr.match(/ERROR: {2}(\w{5})/)?.[1] ?? stderr
}

for (const [role, statement, expected] of CASES) {
  const short = statement.replace(/\s+/g, ' ').slice(0, 70)
  Deno.test(`${role} ${expected === null ? 'can' : 'cannot'} ${short}`, async () => {
    expect(await outcome(role, statement)).toBe(expected)
  })
}

Deno.test('statement and lock timeouts are those of the platform', async () => {
  const limits = async (role: Login): Promise<string> =>
    (await pg.psql(`select current_setting('statement_timeout'), current_setting('lock_timeout')`, {
      as: role,
    })).stdout
  expect(await limits('postgres')).toBe('2min|0')
  expect(await limits('authenticator')).toBe('8s|8s')
  const { stdout } = await pg.psql(`select rolname, array_to_string(rolconfig, ' ') from pg_roles
    where rolname in ('anon', 'authenticated', 'service_role') order by rolname`)
  expect(stdout.split('\n')).toEqual([
    'anon|statement_timeout=3s',
    'authenticated|statement_timeout=8s',
    'service_role|',
  ])
})

Deno.test('authenticator names the exposed schemas', async () => {
  const { stdout } = await pg.psql(`select rolconfig from pg_roles where rolname = 'authenticator'`)
  expect(stdout).toContain('pgrst.db_schemas=public,outbox')
})
