import postgres from 'postgres'
import { startTestPostgres } from '../../_support/postgres.ts'
import { startProxy, type TestProxy } from '../../_support/brokers/proxy.ts'
import type { BusMessage } from './bus.ts'

/** An event of a target database. */
export type Stored = { org: string; key: string | null; n: number; source: string }

/** A database with the schema, behind a proxy that a test can cut. */
export interface Target extends AsyncDisposable {
  readonly name: string
  /** Through the proxy. */
  readonly url: string
  /** Around the proxy. */
  readonly directUrl: string
  readonly proxy: TestProxy
  /** Around the proxy. */
  readonly sql: postgres.Sql
  /** The events that were taken, in the order of their ids. */
  events(): Promise<Stored[]>
  clear(): Promise<void>
}

/** Starts a Postgres for a database of this name. */
export async function startTarget(name: string): Promise<Target> {
  const pg = await startTestPostgres({ migrated: true })
  const sql = postgres(pg.dbUrl, { max: 2, onnotice: () => {} })
  const url = new URL(pg.dbUrl)
  const proxy = startProxy(Number(url.port))
  url.hostname = '127.0.0.1'
  url.port = String(proxy.port)
  return {
    name,
    url: url.href,
    directUrl: pg.dbUrl,
    proxy,
    sql,
    events: async () =>
      await sql<Stored[]>`
        select e.org_id as org, e.partition_key as key, (e.body::jsonb ->> 'id')::integer as n,
          e.idempotency_key as source
        from outbox.event e where e.type = 'order.paid' order by e.id`,
    async clear(): Promise<void> {
      await sql`truncate outbox.event, outbox.unrouted, outbox.consumer_inbox`
    },
    async [Symbol.asyncDispose](): Promise<void> {
      proxy[Symbol.dispose]()
      await sql.end({ timeout: 1 })
      await pg[Symbol.asyncDispose]()
    },
  }
}

/** Events of ten organisations as an endpoint of Outhook sends them; each has seven keys. */
export function carriedMessages(count: number, prefix: string, from = 0): BusMessage[] {
  return Array.from({ length: count }, (_, index) => {
    const n = from + index
    const id = `${prefix}-${n}`
    return carriedMessage(id, `org-${n % 10}`, {
      key: `k ${n % 7}`,
      text: `{"id":"${id}","eventType":"order.paid","data":{"id": ${n}, "total": 1.10}}`,
    })
  })
}

/** One event of an organisation. */
export function carriedMessage(
  id: string,
  org: string,
  { key = 'k', text = '{}', type = 'order.paid' } = {},
): BusMessage {
  const headers = {
    'x-event-type': type,
    'x-outhook-org': org,
    'x-outhook-partition-key': encodeURIComponent(key),
    'idempotency-key': id,
  }
  return { id, key, text, headers }
}
