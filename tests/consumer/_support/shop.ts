import postgres from 'postgres'
import { startTestPostgres, type TestPostgres } from '../../_support/postgres.ts'

/** A database with the schema, and with the handler that the tests' consumers call. */
export interface Shop extends AsyncDisposable {
  readonly dbUrl: string
  readonly sql: postgres.Sql
  /** How often each order was entered, in the order of the first time. */
  orders(): Promise<{ id: number; times: number }[]>
  /** Makes the handler refuse these orders, and no others. */
  refuse(orders: number[]): Promise<void>
  clear(): Promise<void>
  /** Stops whoever enters this order, in the middle of its work, until the bar is lifted. */
  barAt(order: number): Promise<{ isReached(): Promise<boolean>; lift(): Promise<void> }>
}

const handler = `
create schema shop;
create table shop.bill (n bigint generated always as identity, order_id integer not null);
create table shop.refused (order_id integer not null);
create function shop.bill_order(p_message jsonb) returns void language plpgsql as $$
begin
  if exists (select from shop.refused r where r.order_id = (p_message #>> '{data,id}')::integer) then
    raise exception 'no such customer';
  end if;
  insert into shop.bill (order_id) values ((p_message #>> '{data,id}')::integer);
end
$$;`

export async function startShop(): Promise<Shop> {
  const pg: TestPostgres = await startTestPostgres({ migrated: true })
  const sql = postgres(pg.dbUrl, { max: 2, onnotice: () => {} })
  await sql.unsafe(handler).simple()
  return {
    dbUrl: pg.dbUrl,
    sql,
    orders: async () =>
      await sql<{ id: number; times: number }[]>`
        select b.order_id as id, count(*)::integer as times
        from shop.bill b group by b.order_id order by min(b.n)`,
    async refuse(orders): Promise<void> {
      await sql`truncate shop.refused`
      if (orders.length === 0) return
      await sql`insert into shop.refused ${sql(orders.map((order_id) => ({ order_id })))}`
    },
    async clear(): Promise<void> {
      await sql`truncate shop.bill, shop.refused, outbox.event, outbox.unrouted,
        outbox.consumer_inbox`
    },
    async barAt(order): ReturnType<Shop['barAt']> {
      await sql.unsafe(`
        create function shop.bar() returns trigger language plpgsql as $$
          begin perform pg_advisory_xact_lock(7); return new; end $$;
        create trigger bar before insert on shop.bill for each row
          when (new.order_id = ${order}) execute function shop.bar()`).simple()
      const holder = await sql.reserve()
      await holder`select pg_advisory_lock(7)`
      return {
        async isReached(): Promise<boolean> {
          const [row] = await holder`
            select exists (select from pg_locks where locktype = 'advisory' and not granted) as yes`
          return row?.yes
        },
        async lift(): Promise<void> {
          await holder`select pg_advisory_unlock(7)`
          holder.release()
        },
      }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await sql.end({ timeout: 1 })
      await pg[Symbol.asyncDispose]()
    },
  }
}

/** Orders as Outhook sends them, numbered from `from`; those of one key in that order. */
export function orderMessages(
  count: number,
  prefix: string,
  from = 0,
): { id: string; key: string; text: string }[] {
  return Array.from({ length: count }, (_, index) => {
    const n = from + index
    const id = `${prefix}-${n}`
    const text = `{"id":"${id}","eventType":"order.paid","data":{"id": ${n}, "total": 1.10}}`
    return { id, key: `k${n % 7}`, text }
  })
}
