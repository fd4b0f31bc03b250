import postgres from 'postgres'
import { messageOf } from './errors.ts'

/** The session that ticks until the first full minute. */
export interface FirstTicks {
  /** Ends the session. */
  stop(): Promise<void>
}

/**
 * Runs the command of the job outhook-tick at once, in a session of its own. The command calls
 * `outbox.tick()` every second until the next full minute. Before version 1.5, pg_cron starts a job only
 * with a full minute, so that retries could be up to 60 s late. Since 1.5 the job has another schedule,
 * and this does nothing. An error is logged.
 */
export function startFirstTicks(
  { dbUrl, log }: { dbUrl: string; log: (line: string) => void },
): FirstTicks {
  const sql = postgres(dbUrl, {
    max: 1,
    fetch_types: false,
    onnotice: () => {},
    connection: { statement_timeout: 0 },
  })
  let isStopped = false
  const ticking = run().catch((error) => {
    if (!isStopped) log(`first ticks: ${messageOf(error)}`)
  })

  async function run(): Promise<void> {
    const [cron] = await sql`select where pg_catalog.to_regclass('cron.job') is not null`
    const [job] = cron === undefined ? [] : await sql<{ command: string }[]>`
      select j.command from cron.job as j
      where j.jobname = 'outhook-tick' and j.schedule = '* * * * *' and j.active`
    if (job !== undefined) await sql.unsafe(job.command).simple()
    await sql.end()
  }

  return {
    async stop(): Promise<void> {
      isStopped = true
      await sql.end({ timeout: 0 })
      await ticking
    },
  }
}
