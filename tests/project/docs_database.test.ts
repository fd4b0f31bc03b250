/** What the pages say of the database, held against a migrated one. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import type { Postgres } from '../../supabase/local/postgres/mod.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { docs, docsBlock, docsSettings, docsTable } from './_docs.ts'
import { withMigrations } from '../_support/postgres.ts'

const settings = `
  select json_agg(json_build_array(s.name, s.value::text,
    coalesce(s.lowest || ' to ' || s.highest, ''), s.description) order by s.name)
  from outbox.setting s`

/** The names of a function's arguments, as JSON. */
const argumentsOf = (name: string): string =>
  `select json_agg(a) from pg_proc p, unnest(p.proargnames) a
  where p.pronamespace = 'outbox'::regnamespace and p.proname = '${name}'`

/** One delivery that waits, of one endpoint: their ids, with a bar between them. */
const delivery = `
  select outbox.create_endpoint('https://example.com/hook') ->> 'id' as endpoint \\gset
  select outbox.publish('order.paid', '{}') as event \\gset
  select outbox.dispatch(gen_random_uuid(), 1) \\g /dev/null
  select :'event', :'endpoint'`

/** A run takes what waits, and the endpoint refuses it. */
const refusal = `
  with c as (select outbox.dispatch('00000000-0000-7000-8000-000000000001', 1, '[]', 10)::jsonb as answer)
  select jsonb_agg(d || '{"outcome": "failed", "status": 404, "error_class": "status"}') as results
  from c, jsonb_array_elements(answer -> 'deliveries') d \\gset
  select outbox.dispatch('00000000-0000-7000-8000-000000000001', 2, :'results') \\g /dev/null`

const names = `
  select p.proname from pg_proc p where p.pronamespace = 'outbox'::regnamespace
  union select c.relname from pg_class c where c.relnamespace = 'outbox'::regnamespace`

const asApplication = (sql: string): string => `begin; set local role authenticated; ${sql} commit;`

async function query(pg: Postgres, sql: string): Promise<string> {
  const { code, stdout, stderr } = await pg.psql(sql)
  if (code !== 0) throw new Error(stderr)
  return stdout
}

Deno.test('what the pages say of the database', async (t) => {
  await withMigrations(async (pg) => {
    await t.step('its settings are those of outbox.setting', async () => {
      expect(docsSettings('docs/settings.md', 'All settings')).toEqual(
        JSON.parse(await query(pg, settings)),
      )
    })

    await t.step('its tables of arguments and of statuses are complete', async () => {
      const first = (path: string, heading: string): (string | undefined)[] =>
        docsTable(path, heading).map(([name]) => name).sort()
      const args = async (name: string): Promise<string[]> =>
        JSON.parse(await query(pg, argumentsOf(name))).sort()
      expect(first('docs/endpoints.md', 'Endpoints')).toEqual(await args('create_endpoint'))
      expect(['p_payload', 'p_type', ...first('docs/publishing.md', 'In SQL')].sort())
        .toEqual(await args('publish'))
      const view = await query(pg, `select pg_get_viewdef('outbox.open_delivery')`)
      const outcomes = await query(
        pg,
        `select pg_get_constraintdef(oid) from pg_constraint where conname = 'attempt_outcome_is_known'`,
      )
      for (const status of first('docs/delivery.md', 'The statuses')) {
        expect(view + outcomes).toContain(`'${status}'`)
      }
      // After an attempt whose outcome is failed, an open delivery has the status retrying.
      for (const [, outcome] of outcomes.matchAll(/'(\w+)'/g)) {
        const status = outcome === 'failed' ? 'retrying' : outcome
        expect(first('docs/delivery.md', 'The statuses')).toContain(status)
      }
    })

    await t.step('its endpoint, its schedule, its message and its setting are taken', async () => {
      expect(await query(pg, docsBlock('endpoint-options'))).toContain('whsec_')
      expect(JSON.parse(await query(pg, docsBlock('preview'))))
        .toMatchObject([{ failure: 1, delay_s: 60 }, {}, {}, {}, { failure: 5, delay_s: 60 }])
      const messages = docsBlock('messages').replaceAll('<app id, digits>', '1'.repeat(15))
        .replace('<app secret, 32 hex digits>', 'a'.repeat(32))
        .replace('<phone number id, digits>', '2'.repeat(15))
        .replace('<account id, digits>', '3'.repeat(15))
        .replace('<token>', 'EAA' + 'x'.repeat(40))
      expect(await query(pg, messages)).toContain('"outcome": "created"')
      expect(await query(pg, docsBlock('set-setting'))).toContain('"value": 8')
    })

    await t.step('its limits are those that one organisation may have of its own', async () => {
      const rows = await query(pg, `select name, value from outbox.setting where by_org`)
      const written = docsTable('docs/limits.md', 'Limits of an organisation')
        .map(([name, value = '']) => `${name}|${value === 'off' ? 0 : value.replace(',', '')}`)
      expect(written.sort()).toEqual(rows.split('\n').sort())
      expect(await query(pg, docsBlock('set-org-setting'))).toContain('"was": 5000')
    })

    await t.step('its secrets rotate, its networks open, and its hints are there', async () => {
      const made = await query(
        pg,
        `select outbox.create_endpoint('https://example.com') ->> 'id'`,
      )
      const own = `whsec_${btoa('r'.repeat(32))}`
      await query(
        pg,
        docsBlock('rotate').replaceAll('<endpoint id>', made).replace('whsec_…', own),
      )
      const secrets = `(outbox.active_secrets(array['${made}'::uuid], outbox.clock()) -> '${made}')`
      expect(await query(pg, `select ${secrets} ->> 1, jsonb_array_length(${secrets})`))
        .toBe(`${own}|2`)
      const { deny, ...before } = await egress(pg)
      await query(pg, docsBlock('egress'))
      expect(await egress(pg)).toEqual({ cidrs: ['10.20.0.0/16'], ports: ['443', '8443'], deny })
      // The local stack begins with its seed, and with the ports of every installation.
      await query(pg, docsBlock('egress-local'))
      const restored = await egress(pg)
      expect(restored.ports).toEqual(before.ports)
      await query(pg, await Deno.readTextFile(join(projectRoot, 'supabase/seed.sql')))
      expect(await egress(pg)).toEqual(restored)
      for (const [name, value] of Object.entries(before)) {
        await query(
          pg,
          `select outbox.set_setting('egress.allow_${name}', '${JSON.stringify(value)}')`,
        )
      }
      expect(await query(pg, docsBlock('hints'))).toBe('')
    })

    await t.step('its trigger publishes for a role that may not publish', async () => {
      const trigger = docsBlock('trigger')
      // Whoever tries things out runs them again.
      await query(pg, docsBlock('publish').repeat(2))
      await query(
        pg,
        `grant select, insert, update on public.orders to authenticated;
        truncate outbox.unrouted, outbox.event;
        ${trigger} ${trigger}`,
      )
      const insert = 'insert into public.orders values (7, 12.50, true);'
      await query(pg, asApplication(insert))
      expect(await query(pg, 'select type, body from outbox.event')).toBe(
        'order.paid|{"id": 7, "total": 12.50}',
      )
      await query(
        pg,
        asApplication(`
          update public.orders set paid = true where id = 7;
          insert into public.orders values (9, 3.75, false);
          update public.orders set paid = true where id = 9;`),
      )
      expect(await query(pg, 'select body from outbox.event order by id')).toBe(
        '{"id": 7, "total": 12.50}\n{"id": 9, "total": 3.75}',
      )

      await query(
        pg,
        'alter function public.publish_paid_order() security invoker; truncate outbox.event, outbox.unrouted',
      )
      const refused = await pg.psql(asApplication(insert.replace('7', '8')))
      expect(refused.stderr).toContain('permission denied for schema outbox')
      expect(await query(pg, 'select count(*) from outbox.event')).toBe('0')
      expect(await query(pg, 'select count(*) from public.orders where id = 8')).toBe('0')
    })

    await t.step('its watched table, its saga and its inbox do what they say', async () => {
      await query(pg, docsBlock('drop-trigger'))
      await query(
        pg,
        'truncate outbox.event, outbox.unrouted; update public.orders set paid = true',
      )
      await query(pg, docsBlock('watch'))
      await query(pg, 'update public.orders set paid = true where id = 1')
      const published = `select type || ' ' || (body::json ->> 'type') from outbox.event`
      expect(await query(pg, published)).toBe('orders.updated UPDATE')
      await query(
        pg,
        `create table public.unpublished (id bigint, gone integer);
        select outbox.watch_table('public.unpublished', p_changed => '{gone}');
        alter table public.unpublished drop column gone cascade;`,
      )
      expect(await query(pg, docsBlock('broken-watch'))).toBe(
        'changes of unpublished are not published: a column of p_changed was dropped|' +
          `select outbox.watch_table('unpublished', …);`,
      )
      await query(pg, 'drop table public.unpublished')

      await query(pg, 'truncate outbox.event, outbox.unrouted')
      expect(docsBlock('saga')).toBe(
        await Deno.readTextFile(join(projectRoot, 'supabase/local/start/order_saga.sql')),
      )
      await query(pg, docsBlock('saga').repeat(2))
      await query(pg, docsBlock('saga-execute').repeat(2))
      expect(
        await query(pg, 'select event_type, payload from outbox.saga_outbox order by event_id'),
      ).toBe(
        'stock.reserved|{"item": "lamp", "total": 40.00}\npayment.taken|{"paid": 40.00}\n' +
          'order.confirmed|{"paid": 40.00, "order": 7}',
      )
      expect(await query(pg, docsBlock('slack'))).toMatch(/"id"/)
      await query(pg, docsBlock('brokers'))
      expect(
        await query(
          pg,
          `select kind, url from outbox.endpoint where kind in ('kafka', 'rabbitmq') order by kind`,
        ),
      )
        .toBe(
          'kafka|kafka://kafka-1.example.com:9093\nrabbitmq|amqps://mq.example.com:5671/shop',
        )

      await query(pg, docsBlock('consumer-function'))
      await query(pg, 'update public.orders set paid = false')
      const consume = `select outbox.consume('billing', 'm-1', 'public.bill_order_message',
        '{"data": {"id": 1}}')`
      expect([await query(pg, consume), await query(pg, consume)]).toEqual(['t', 'f'])
      expect(await query(pg, 'select paid from public.orders where id = 1')).toBe('t')

      await query(pg, docsBlock('inbox').repeat(2))
      await query(pg, 'update public.orders set paid = false')
      const bill = `select public.bill_order('event-1', 1)`
      await query(pg, bill)
      expect(await query(pg, 'select paid from public.orders where id = 1')).toBe('t')
      await query(pg, 'update public.orders set paid = false')
      await query(pg, bill)
      expect(await query(pg, 'select paid from public.orders where id = 1')).toBe('f')
    })

    await t.step('its calls by hand do what they say', async () => {
      const [event, endpoint] = (await query(pg, delivery)).split('|')
      const calls = docsTable('docs/delivery.md', 'What you can do by hand').flatMap((
        [, cell = ''],
      ) =>
        [...cell.matchAll(/outbox\.(\w+)\([^)]*\)/g)].map(([call, name = '']) => ({ call, name }))
      )
      // From a delivery that waits to a dead letter; the table has another order.
      const first = [
        'rotate',
        'set_headers',
        'pause',
        'resume',
        'send_test',
        'retry_now',
        'cancel',
        'replay',
      ]
      const last = ['replay_many', 'backfill_events', 'discard', 'delete_endpoint']
      const run = async (start: string): Promise<string> => {
        const index = calls.findIndex(({ name }) => name === start || name.startsWith(`${start}_`))
        const [found] = calls.splice(index, 1)
        const sql = found?.call.replace(/\bevent_id\b/, `'${event}'`)
          .replace(/\bendpoint_id\b/, `'${endpoint}'`).replace(/\bid\b/, `'${endpoint}'`)
        return await query(pg, `select ${sql}`)
      }
      for (const start of first) expect(await run(start)).toMatch(/^\{/)
      await query(pg, refusal)
      for (const start of last) expect(await run(start)).toMatch(/^\{/)
      expect(calls).toEqual([])
    })

    await t.step('it names no object of the schema that is not there', async () => {
      const there = new Set((await query(pg, names)).split('\n'))
      const ops = await Promise.all(
        ['sql/ops/README.md', 'sql/ops/RUNBOOK.md'].map((path) =>
          Deno.readTextFile(join(projectRoot, path))
        ),
      )
      const named = [...docs.values(), ...ops].flatMap((
        text,
      ) => [...text.matchAll(/\boutbox\.(\w+)/g)])
      expect(named.map(([, name = '']) => name).filter((name) => !there.has(name))).toEqual([])
    })

    await t.step(
      'its list of functions has those that a key may call, each described',
      async () => {
        const rows = (await query(pg, docsBlock('functions'))).split('\n').map((row) =>
          row.split('|')
        )
        const shown = rows.map(([name]) => name)
        expect(shown).toContain('publish')
        expect(shown).toContain('create_endpoint')
        expect(shown).not.toContain('put_event')
        expect(rows.filter((row) => (row.at(-1) ?? '') === '')).toEqual([])
      },
    )

    await t.step(
      'its receiver on a hosted project has an endpoint, a table and an event',
      async () => {
        const url = docsBlock('hosted-endpoint').replace('<ref>', 'abcdefghij')
        expect(await query(pg, url)).toContain('"secret": "whsec_')
        const handler = 'functions/example-consumer/handler.sql'
        await query(pg, await Deno.readTextFile(join(projectRoot, handler)))
        expect(await query(pg, docsBlock('hosted-publish'))).toMatch(/^[0-9a-f-]{36}$/)
        const body = `select public.receive_event(id::text, json_build_object(
        'eventType', type, 'data', body::json)::text) from outbox.event order by id desc limit 1`
        expect(await query(pg, body)).toBe('t')
        expect(await query(pg, docsBlock('hosted-look'))).toContain('|1|49.90|')
      },
    )

    await t.step('its query of kicks runs, and its two ways to configure', async () => {
      expect(await query(pg, docsBlock('kicks'))).toBe('')
      for (const name of ['configure', 'configure-docker']) {
        const sql = docsBlock(name).replace('<ref>', 'abcdefghij')
          .replace('<the worker secret>', 'x'.repeat(32))
        expect(await query(pg, sql)).toContain('/functions/v1')
      }
      expect(await query(pg, docsBlock('worker-secret'))).toBe('x'.repeat(32))
    })

    await t.step('its way to take Outhook away leaves nothing', async () => {
      await query(
        pg,
        `create function public.tell() returns void language sql as
          $$ select outbox.publish('order.paid', '{}') $$;
        create table public.watched_to_the_end (id bigint primary key);
        select outbox.watch_table('public.watched_to_the_end');`,
      )
      expect((await query(pg, docsBlock('callers'))).split('\n')).toContain('tell()')
      expect(await query(pg, 'select count(*) > 1 from vault.secrets')).toBe('t')
      await query(pg, docsBlock('uninstall'))
      const left = await query(
        pg,
        `insert into public.watched_to_the_end values (1);
        select (select count(*) from vault.secrets), (select count(*) from cron.job),
          (select count(*) from pg_namespace where nspname = 'outbox')`,
      )
      expect(left).toBe('0|0|0')
    })
  })
})

async function egress(pg: Postgres): Promise<Record<string, string[]>> {
  return JSON.parse(
    await query(
      pg,
      `select json_build_object('cidrs', outbox.setting_value('egress.allow_cidrs'),
        'ports', outbox.setting_value('egress.allow_ports'), 'deny', outbox.setting_value('egress.deny_ports'))`,
    ),
  )
}
