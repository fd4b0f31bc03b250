import postgres from 'postgres'

/** Runs the tick in the first minute of a server. */
export interface FirstTick {
  /** Ends its session. */
  end(): Promise<void>
}

/**
 * Runs the work of the job outhook-tick at once, in its own session. pg_cron 1.4 starts that job only at
 * the next full minute. Since pg_cron 1.5 the job runs every second, and this does nothing.
 */
export async function tickAtOnce(dbUrl: string): Promise<FirstTick | null> {
  const sql = postgres(dbUrl, { max: 1, onnotice: () => {}, connection: { statement_timeout: 0 } })
  const [job] = await sql<{ command: string }[]>`
    select j.command from cron.job as j
    where j.jobname = 'outhook-tick' and j.schedule = '* * * * *' and j.active`
  if (job === undefined) {
    await sql.end()
    return null
  }
  // It ends with the minute, or with the session.
  const ticking = sql.unsafe(job.command).simple().then(() => {}, () => {})
  return {
    async end(): Promise<void> {
      await sql.end({ timeout: 0 })
      await ticking
    },
  }
}
