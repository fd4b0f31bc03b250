/** `outhook uninstall` by the packed command, on a project with data, and `init` after it. */

import { expect } from '@std/expect'
import { testFolder } from '../_support/folder.ts'
import { builtCommand } from './_support/built.ts'
import { config, type Shop, shopIn } from './_support/shop.ts'
import { type ShopStack, startShop } from './_support/shop_stack.ts'

const root = testFolder()
let project: Shop
let shop: ShopStack

Deno.test.beforeAll(async () => {
  const tarball = await builtCommand(root)
  project = await shopIn(root, tarball)
  expect((await project.run('init', '--yes', '--modules', 'api,watch,messages')).code).toBe(0)
  await project.commit()
  shop = await startShop(project)
})
Deno.test.afterAll(async () => {
  await shop?.stop()
  await Deno.remove(root, { recursive: true })
})

/** The text of the migration that drops the schema. */
async function removal(): Promise<string> {
  const files = await project.files()
  const name = Object.keys(files).find((name) => /_outhook_uninstall_/.test(name)) ?? ''
  return files[name] ?? ''
}

/** What the database has of Outhook, as `objects|jobs|secrets|runs of jobs`. */
async function left(): Promise<string> {
  const { stdout } = await shop.run(`
    select
      (select count(*) from pg_namespace where nspname = 'outbox')
        + (select count(*) from pg_proc where prosrc ~ '\\moutbox\\.')
        + (select count(*) from pg_trigger t join pg_proc p on p.oid = t.tgfoid
           where p.prosrc ~ '\\moutbox\\.'),
      (select count(*) from cron.job where jobname like 'outhook-%'),
      (select count(*) from vault.secrets),
      (select count(*) from cron.job_run_details where command like '%outbox.%')`)
  return stdout
}

Deno.test('uninstall shows its plan, and writes nothing without a confirmation', async () => {
  const before = await project.files()
  const { code, stdout, stderr } = await project.run('uninstall')
  expect([code, stderr]).toEqual([3, 'Nothing was changed: confirm it with --yes\n'])
  expect(stdout).toContain('change supabase/config.toml')
  expect(stdout).toContain('delete supabase/functions/outhook-deliver')
  const plan = JSON.parse((await project.run('uninstall', '--json')).stdout)
  expect(plan).toMatchObject({ applied: false, byHand: [] })
  expect(plan.delete).toEqual([
    'supabase/functions/outhook-api',
    'supabase/functions/outhook-deliver',
    'supabase/functions/outhook-whatsapp',
  ])
  expect(await project.files()).toEqual(before)
})

Deno.test('the migration of uninstall refuses open deliveries and functions that would fail', async () => {
  await shop.run(`
    create table public.orders (id bigint primary key);
    select outbox.watch_table('public.orders');
    select outbox.set_setting('worker.enabled', 'false');
    select outbox.create_endpoint('https://example.com/hook', '{*}');
    insert into public.orders values (1)`)
  const { code } = await project.run('uninstall', '--yes')
  expect(code).toBe(0)
  const text = await removal()
  await expect(shop.run(`begin; ${text}`)).rejects.toThrow(
    /deliveries that are not finished.*discard/s,
  )
  await shop.run('select outbox.decide_copy($$x$$) where false')
  await shop.run('delete from outbox.unrouted where true')
  await shop.run(`
    create function public.pay() returns void language plpgsql as $$
    begin perform outbox.publish('a', '{}'); end $$`)
  await expect(shop.run(`begin; ${text}`)).rejects.toThrow(/public\.pay\(\)|pay\(\)/)
})

Deno.test('the migration of uninstall refuses to drop objects of the project', async () => {
  const text = await removal()
  const objects: [create: string, names: RegExp][] = [
    ['create view public.latest as select * from outbox.event', /rule "_RETURN" on public\.latest/],
    [
      'create table public.copy (at timestamptz default outbox.clock(), e outbox.event)',
      /default value for public\.copy\.at, table column public\.copy\.e/,
    ],
    [
      `create function public.endpoints() returns bigint language sql
        begin atomic select count(*) from outbox.endpoint; end`,
      /function public\.endpoints\(\)/,
    ],
  ]
  for (const [create, names] of objects) {
    await expect(shop.run(`begin; drop function public.pay(); ${create}; ${text}`))
      .rejects.toThrow(names)
  }
})

Deno.test('uninstall leaves nothing in the database, nor in config.toml', async () => {
  await shop.run('drop function public.pay()')
  expect((await left()).startsWith('0|')).toBe(false)
  const files = await project.files()
  expect(files['supabase/config.toml']).toBe(config)
  expect(Object.keys(files).filter((name) => name.includes('outhook-'))).toEqual([])
  expect(Object.keys(files).filter((name) => /_outhook_core_/.test(name)).length).toBe(1)
  await shop.run("select cron.schedule('outhook-report', '0 3 * * *', 'select 1')")
  await shop.restart()
  const { stdout: own } = await shop.run("select cron.unschedule('outhook-report')")
  expect(own).toBe('t')
  expect(await left()).toBe('0|0|0|0')
  const { stdout } = await shop.run(`
    insert into public.orders values (2);
    select count(*) from public.orders; select count(*) from public.own`)
  expect(stdout).toBe('2\n0')
  expect((await project.run('uninstall', '--yes')).stdout).toBe(
    'The project has nothing of Outhook.\n',
  )
})

Deno.test('init installs everything again', async () => {
  await project.commit()
  expect((await project.run('init', '--yes')).code).toBe(0)
  await shop.restart()
  const { stdout } = await shop.run("select outbox.check_installation() -> 'modules'")
  expect(stdout).toBe('["core", "api"]')
})
