import type { Sql } from 'postgres'

/**
 * Updates the host and port of all jobs. pg_cron stores both in each job when it is scheduled, so that no job
 * would run after a start on another port or in a moved folder.
 */
export async function adoptCronJobs(
  admin: Sql,
  { host, port }: { host: string; port: number },
): Promise<void> {
  await admin`
    update cron.job set nodename = ${host}, nodeport = ${port}
    where nodename <> ${host} or nodeport <> ${port}`
}
