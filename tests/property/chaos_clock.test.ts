/** The moves of the database's clock by `task soak chaos`. */

import { expect } from '@std/expect'
import { existsSync } from 'node:fs'
import postgres from 'postgres'
import { startPostgres } from '../../supabase/local/postgres/mod.ts'
import { databaseFolder } from '../_support/folder.ts'
import { copyPrepared } from '../_support/prepared.ts'
import { canMoveClocks, makeClock, removeLeftObjects } from '../soak/chaos/clock.ts'

Deno.test({
  name:
    'the clock of a Postgres jumps ahead and behind and back, for connections that are open too',
  ignore: !canMoveClocks,
  async fn(): Promise<void> {
    await using stack = new AsyncDisposableStack()
    const clock = await makeClock({ threads: false })
    stack.defer(() => clock.remove())
    const dataDir = databaseFolder()
    await copyPrepared(dataDir, 'platform')
    stack.defer(() => Deno.remove(dataDir, { recursive: true }))
    const pg = await startPostgres({ dataDir, port: 'free', fsync: false, env: clock.env })
    stack.defer(() => pg.stop())
    const sql = postgres(pg.dbUrl, { max: 1 })
    stack.defer(() => sql.end({ timeout: 1 }))
    /** How far the database is ahead of this process, in whole seconds. */
    const ahead = async (): Promise<number> => {
      const [row] = await sql`select extract(epoch from clock_timestamp())::float8 * 1000 as at`
      // Not -0.
      return Math.round((Number(row?.at) - Date.now()) / 1_000) + 0
    }
    const seen: number[] = []
    for (const seconds of [0, 25, -25, 0]) {
      await clock.set(seconds)
      seen.push(await ahead())
    }
    expect(seen).toEqual([0, 25, -25, 0])
  },
})

Deno.test({
  name: 'what killed processes have left of their clocks is removed, and what others use stays',
  ignore: !canMoveClocks,
  async fn(): Promise<void> {
    const ended = new Deno.Command('true').spawn()
    await ended.status
    const left = `/dev/shm/sem.faketime_sem_${ended.pid}`
    const used = `/dev/shm/faketime_shm_${Deno.pid}`
    try {
      await Deno.writeTextFile(left, '')
      await Deno.writeTextFile(used, '')
      await removeLeftObjects()
      expect([existsSync(left), existsSync(used)]).toEqual([false, true])
    } finally {
      await Deno.remove(used)
    }
  },
})
