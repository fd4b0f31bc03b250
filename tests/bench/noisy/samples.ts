/** What the sessions of Postgres do: looked at every 20 ms, because the counters of Postgres have no waits. */

import type { Sql } from 'postgres'
import { pause } from '../engine/pause.ts'

const EVERY_MS = 20

/**
 * Begins to look; the returned function ends it and returns lines: how many sessions did what on average. A session
 * that waits for a lock comes with what holds it.
 */
export function sampleSessions(sql: Sql): () => Promise<string[]> {
  const found = new Map<string, number>()
  let looks = 0
  let isOn = true

  async function look(): Promise<void> {
    while (isOn) {
      const rows = await sql<{ what: string }[]>`
        select coalesce(a.wait_event, 'running') || ', ' || bench.called(a.query) || coalesce((
          select ' for ' || min(bench.called(b.query)) from pg_stat_activity b
          where a.wait_event_type = 'Lock' and b.pid = any (pg_blocking_pids(a.pid))
        ), '') as what
        from pg_stat_activity a
        where a.state <> 'idle' and a.pid <> pg_backend_pid() and a.backend_type = 'client backend'`
      looks++
      for (const { what } of rows) found.set(what, (found.get(what) ?? 0) + 1)
      await pause(EVERY_MS)
    }
  }

  const done = look()
  return async () => {
    isOn = false
    await done
    return [...found].sort(([, a], [, b]) => b - a).slice(0, 16)
      .map(([what, times]) => `  ${(times / looks).toFixed(2)} sessions: ${what}`)
  }
}
