import type { Sql } from 'postgres'

/**
 * Points the jobs at this server. pg_cron writes the host and the port of the moment into each job
 * when it is scheduled, and connects there for ever: after a start on another port, or in a folder
 * that was moved, no job would run.
 */
export async function adoptCronJobs(
  admin: Sql,
  { host, port }: { host: string; port: number },
): Promise<void> {
  await admin`
    update cron.job set nodename = ${host}, nodeport = ${port}
    where nodename <> ${host} or nodeport <> ${port}`
}
