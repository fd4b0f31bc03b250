import postgres from 'postgres'
import { isServerAway } from '../away.ts'
import { type Act, allOver, type Family, pause } from '../fault.ts'
import type { World } from '../world.ts'

type OfServer = Pick<World, 'server'>

/** The server dies, restarts or stops to write. */
export const postgresFaults: Family<OfServer> = {
  async 'postgres killed'({ world: { server }, ms }): Promise<void> {
    await server.inTurn(async () => {
      await server.kill()
      await pause(Math.min(ms, 2_000))
      await server.up()
    })
  },

  async 'postgres killed in a checkpoint'({ world: { server }, random }): Promise<void> {
    await server.inTurn(async () => {
      const checkpoint = server.tell((sql) => sql`checkpoint`)
      await pause(20 + random.int(60))
      await allOver([server.kill(), checkpoint])
      await server.up()
    })
  },

  async 'one server process killed'({ world: { server }, random }): Promise<void> {
    await server.inTurn(async () => {
      await server.tell(async (sql) => {
        const rows = await sql<{ pid: number }[]>`
          select pid from pg_stat_activity
          where pid <> pg_backend_pid() and backend_type = 'client backend' order by pid`
        const pid = rows[random.int(rows.length)]?.pid
        if (pid !== undefined) Deno.kill(pid, 'SIGKILL')
      })
      await server.up()
    })
  },

  async 'postgres restarted'({ world: { server } }): Promise<void> {
    await server.inTurn(async () => {
      await server.down()
      await server.up()
    })
  },

  async 'connections ended'({ world: { server } }): Promise<void> {
    await server.tell((sql) =>
      sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where pid <> pg_backend_pid() and backend_type = 'client backend'`
    )
  },

  async 'read only'({ world: { server }, ms }: Act<OfServer>): Promise<void> {
    await server.tell(async (sql) => {
      await sql`alter system set default_transaction_read_only = on`
      await sql`select pg_reload_conf()`
    })
    await pause(ms)
    await server.surely('to write again', async (sql) => {
      await sql`alter system reset default_transaction_read_only`
      await sql`select pg_reload_conf()`
    })
  },

  async 'connections exhausted'({ world: { server }, ms }): Promise<void> {
    await server.tell(async (own) => {
      const [row] = await own<{ free: number }[]>`
        select current_setting('max_connections')::integer - count(*)::integer as free
        from pg_stat_activity where backend_type = 'client backend'`
      const held = Array.from({ length: row?.free ?? 0 }, () => hold(server.url('postgres'), ms))
      await allOver(held)
    })
  },
}

/** Holds one connection for so long, if there is one left and the server does not end it. */
async function hold(url: string, ms: number): Promise<void> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, fetch_types: false, onnotice: () => {} })
  try {
    await sql`select pg_sleep(${ms / 1_000})`
  } catch (error) {
    if (!isServerAway(error)) throw error
  } finally {
    await sql.end({ timeout: 0 }).catch(() => {})
  }
}
