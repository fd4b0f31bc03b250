import postgres from 'postgres'

/** The tick of the minute that a server was started in. */
export interface FirstTick {
  /** Ends its session. */
  end(): Promise<void>
}

/**
 * Does at once, in a session of its own, what the job outhook-tick does. pg_cron 1.4 starts that job
 * with the next whole minute; until then this is the tick. Since pg_cron 1.5 the job runs every second,
 * and there is nothing to do.
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
