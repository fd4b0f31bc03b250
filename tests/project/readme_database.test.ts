/** What the README says of the database, held against a migrated one. */

import { expect } from '@std/expect'
import type { Postgres } from '../../supabase/local/postgres/mod.ts'
import { withSchema } from '../../supabase/local/schema/database.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { readmeBlock, readmeTable } from './_readme.ts'

const settings = `
  select coalesce(json_agg(json_build_array(s.name, s.value::text,
    case when s.lowest is null then '' else s.lowest || ' to ' || s.highest end, s.description) order by s.name), '[]')
  from outbox.setting s`

const asApplication = (sql: string): string => `begin; set local role authenticated; ${sql} commit;`

async function query(pg: Postgres, sql: string): Promise<string> {
  const { code, stdout, stderr } = await pg.psql(sql)
  if (code !== 0) throw new Error(stderr)
  return stdout
}

Deno.test('what the README says of the database', async (t) => {
  await withSchema(projectRoot, 'migrations', async (pg) => {
    await t.step('its settings are those of outbox.setting', async () => {
      expect(readmeTable('Settings')).toEqual(JSON.parse(await query(pg, settings)))
    })

    await t.step('its trigger publishes for a role that may not publish', async () => {
      const trigger = readmeBlock('trigger')
      await query(pg, readmeBlock('publish'))
      await query(
        pg,
        `grant insert, update on public.orders to authenticated; truncate outbox.unrouted, outbox.event;
        ${trigger}`,
      )
      const insert = 'insert into public.orders values (7, 12.50, true);'
      await query(pg, asApplication(insert))
      expect(await query(pg, 'select type, body from outbox.event')).toBe(
        'order.paid|{"id": 7, "total": 12.50}',
      )

      await query(
        pg,
        'alter function public.publish_paid_order() security invoker; truncate outbox.event',
      )
      const refused = await pg.psql(asApplication(insert.replace('7', '8')))
      expect(refused.stderr).toContain('permission denied for schema outbox')
      expect(await query(pg, 'select count(*) from outbox.event')).toBe('0')
      expect(await query(pg, 'select count(*) from public.orders where id = 8')).toBe('0')
    })

    await t.step('its query of kicks runs, and its two ways to configure', async () => {
      expect(await query(pg, readmeBlock('kicks'))).toBe('')
      for (const name of ['configure', 'configure-docker']) {
        const sql = readmeBlock(name).replace('<ref>', 'abcdefghij')
          .replace('<the worker secret>', 'x'.repeat(32))
        expect(await query(pg, sql)).toContain('/functions/v1')
      }
    })

    await t.step('its extensions are those that the schema uses', async () => {
      // The local stack has net as a schema of its own, so only pg_cron can be made here.
      const [cron] = readmeBlock('extensions').split('\n')
      await query(pg, `${cron}`)
    })
  })
})
