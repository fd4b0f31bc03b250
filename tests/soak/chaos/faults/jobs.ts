import type { Family, Fault } from '../fault.ts'

/** Runs the command of a job now, beside pg_cron's own. */
function job(name: string): Fault {
  return async ({ world: { server } }) => {
    await server.tell(async (sql) => {
      const [row] = await sql<{ command: string }[]>`
        select command from cron.job where jobname = ${name}`
      await sql.unsafe(row?.command ?? 'select').simple()
    })
  }
}

/** Periodic work at a bad time. */
export const jobFaults: Family = {
  'cleanup': job('outhook-cleanup'),
  'partitions made': job('outhook-partitions'),
  'partitions dropped': job('outhook-drop-partitions'),
  'vacuum': job('outhook-vacuum'),
}
