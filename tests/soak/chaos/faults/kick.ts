import type { Sql } from 'postgres'
import { type Family, pause } from '../fault.ts'

/** Kicks and the tick do not come. */
export const kickFaults: Family = {
  'pg_net stopped': ({ world: { net }, ms }) => Promise.resolve(net.kill(ms)),

  async 'kicks lost'({ world: { server } }): Promise<void> {
    await server.tell((sql) => sql`delete from net.http_request_queue where id is not null`)
  },

  async 'jobs stopped'({ world: { server }, ms }): Promise<void> {
    const setActive = (active: boolean) => (sql: Sql): Promise<unknown> =>
      sql`
        select cron.alter_job(jobid, active => ${active}) from cron.job where jobname ~ '^outhook-'`
    await server.tell(setActive(false))
    await server.tell((sql) =>
      sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where pid <> pg_backend_pid() and query ~ 'outbox.begin_ticks'`
    )
    await pause(ms)
    await server.surely('the jobs again', setActive(true))
    await server.inTurn(() => server.tickAtOnce())
  },
}
