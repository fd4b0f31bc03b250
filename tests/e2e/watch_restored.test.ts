import { expect } from '@std/expect'
import postgres from 'postgres'
import { type TestPostgres, withMigrations } from '../_support/postgres.ts'

/** Runs statements, and returns the output without its last line break. */
async function query(pg: TestPostgres, sql: string): Promise<string> {
  const { code, stdout, stderr } = await pg.psql(sql)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  return stdout.trim()
}

const bodies = `select string_agg(concat_ws(' ', partition_key, body::json ->> 'type',
  body::json ->> 'record'), '; ' order by id) from outbox.event`

/** The columns of a watch as they are after `changes`, with dropped columns before and between them. */
const made = `
  create schema shop;
  create table shop.orders (junk integer, id integer, more integer, customer text default 'c-1',
    secret text default 'sesame', total integer default 1, note text default 'n');
  select outbox.watch_table('shop.orders', p_except => '{secret}', p_changed => '{total}',
    p_partition_column => 'customer', p_per_statement => <per statement>);
  alter table shop.orders drop column junk, drop column more;
  alter table shop.orders rename secret to other;
  alter table shop.orders rename note to secret;`

const changes = `truncate outbox.event, outbox.unrouted;
  insert into shop.orders (id) values (1);
  update shop.orders set secret = 'm';
  update shop.orders set total = 2;`

const published =
  'c-1 INSERT {"id":1,"customer":"c-1","total":1,"secret":"n"}; c-1 UPDATE {"id":1,"customer":"c-1","total":2,"secret":"m"}'

/** Dumps a schema with pg_dump and restores it in the place of the original, as its columns' numbers change. */
async function restore(pg: TestPostgres): Promise<void> {
  const dump = await new Deno.Command(`${pg.binaries.bin}/pg_dump`, {
    args: ['-d', pg.dbUrl, '--schema', 'shop', '--no-owner'],
  }).output()
  expect(dump.code).toBe(0)
  const before = await query(pg, numbers)
  await query(pg, `drop schema shop cascade; ${new TextDecoder().decode(dump.stdout)}`)
  expect(await query(pg, numbers)).not.toBe(before)
}

const numbers = `select string_agg(attname || attnum, ' ' order by attnum) from pg_attribute
  where attrelid = 'shop.orders'::regclass and attnum > 0 and not attisdropped`

Deno.test('a watched table publishes the same after a dump and restore', async (t) => {
  await withMigrations(async (pg) => {
    for (const perStatement of ['false', 'true']) {
      await t.step(`p_per_statement => ${perStatement}`, async () => {
        await query(pg, made.replace('<per statement>', perStatement))
        await query(pg, changes)
        expect(await query(pg, bodies)).toBe(published)
        await query(pg, 'truncate shop.orders')
        await restore(pg)
        await query(pg, changes)
        expect(await query(pg, bodies)).toBe(published)
        await query(pg, 'drop schema shop cascade')
      })
    }
  })
})

Deno.test('a transaction with an older snapshot does not publish an excluded column', async (t) => {
  await withMigrations(async (pg) => {
    await query(
      pg,
      `create schema shop;
       create table shop.orders (id integer, secret text, note text);
       select outbox.watch_table('shop.orders', p_except => '{secret}')`,
    )
    /** In REPEATABLE READ: the snapshot, then a change of the table in another session, then a write. */
    const write = async (change: string): Promise<string> => {
      const session = postgres(pg.dbUrl, { max: 1 })
      try {
        return await session.begin('isolation level repeatable read', async (sql) => {
          await sql`select count(*) from outbox.setting`
          await query(pg, change)
          await sql`insert into shop.orders (id) values (1)`
          return 'written'
        })
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      } finally {
        await session.end()
      }
    }
    const refused = 'the watched table was altered after this transaction had begun'
    await t.step('it writes as long as the table is unchanged', async () => {
      expect(await write('create table shop.other (id integer)')).toBe('written')
      expect(await query(pg, bodies)).toBe('INSERT {"id":1,"note":null}')
    })
    await t.step('two columns swap their names', async () => {
      const swap =
        `alter table shop.orders rename secret to other; alter table shop.orders rename note to secret;
        alter table shop.orders rename other to note`
      expect(await write(swap)).toBe(refused)
    })
    await t.step('a column gets a type of the application', async () => {
      const retype = `create type shop.mood as enum ('n');
        alter table shop.orders alter column secret type shop.mood using 'n'`
      expect(await write(retype)).toBe(refused)
    })
    await t.step('the table is watched anew', async () => {
      for (const lists of [`p_columns => '{id}'`, `p_columns => '{id,note}'`]) {
        expect(await write(`select outbox.watch_table('shop.orders', ${lists})`)).toBe(refused)
      }
    })
    expect(await query(pg, bodies)).toBe('INSERT {"id":1,"note":null}')
  })
})
