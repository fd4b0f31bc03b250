import type { Act, Family, Fault } from '../fault.ts'
import type { Server } from '../server.ts'

/** What a person at a console locks and forgets for a while. */
const locks = [
  `select from outbox.delivery order by event_id limit 50 for update`,
  `select from outbox.gate for update`,
  `select from outbox.lane order by id limit 5 for update`,
  `select from outbox.endpoint for update`,
  `select from outbox.unrouted order by event_id limit 50 for update`,
  `select from outbox.event order by id desc limit 50 for share`,
  `select from outbox.run for update`,
  `select from outbox.router for update`,
  `update outbox.endpoint set description = 'console'`,
  `lock table outbox.delivery in share mode`,
  `lock table outbox.attempt in exclusive mode`,
  `lock table outbox.event in share row exclusive mode`,
] as const

const tables = ['delivery', 'gate', 'lane', 'unrouted', 'run', 'endpoint', 'event', 'attempt']

/** Rows locked from a console, and the heavy commands of administrators. */
export const consoleFaults: Family = {
  async 'rows locked'({ world: { server }, random, ms }): Promise<void> {
    const lock = locks[random.int(locks.length)] ?? locks[0]
    await hold(server, `begin; set local lock_timeout = '3s'; ${lock}`, ms)
  },

  async 'a transaction left open'({ world: { server }, ms }): Promise<void> {
    const begin = 'begin isolation level repeatable read; select count(*) from outbox.event'
    await hold(server, `${begin}; create temporary table console_writes (n integer)`, ms)
  },

  'vacuum full': command((table) => `vacuum full outbox.${table}`),
  'reindex': command((table) => `reindex table outbox.${table}`),
  'reindex concurrently': command((table) => `reindex table concurrently outbox.${table}`),

  async 'pg_dump'({ world: { server } }): Promise<void> {
    await new Deno.Command(`${server.bin}/pg_dump`, {
      args: ['--schema=outbox', '--file=/dev/null', server.url('supabase_admin')],
      stdout: 'null',
      stderr: 'null',
    }).output()
  },
}

function command(make: (table: string) => string): Fault {
  return async ({ world: { server }, random }: Act) => {
    const table = tables[random.int(tables.length)] ?? 'delivery'
    await server.tell(async (sql) => {
      await sql`set lock_timeout = '3s'`
      await sql.unsafe(make(table))
    })
  }
}

/** Does that in a transaction, which then stays open for so long and is rolled back. */
async function hold(server: Server, statements: string, ms: number): Promise<void> {
  await server.tell((sql) =>
    sql.unsafe(`${statements}; select pg_sleep(${ms / 1_000}); rollback`).simple()
  )
}
