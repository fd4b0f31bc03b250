/** Everything that takes a lock, at once and at random. */

import { expect } from '@std/expect'
import { deadlocks, expectExactCounters } from './_support/checks.ts'
import { startOutbox } from './_support/database.ts'
import { type Done, finish, mix, prepareMixture } from './_support/mixed.ts'
import { newSeed, Random } from './_support/random.ts'

const SESSIONS = 8
const ROUNDS = 150

Deno.test('everything that locks, in eight sessions at once, neither deadlocks nor fails nor loses count', async () => {
  await using db = await startOutbox()
  // As it is by default, and longer than DDL waits for a lock: that gives way, and nobody else has to.
  await db.admin`alter database postgres set deadlock_timeout = '1s'`
  const seed = newSeed()
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => db.open()))
  const [first] = sessions
  if (first === undefined) throw new Error('no session')
  await prepareMixture(first.sql, new Random(seed))
  const before = await deadlocks(db.admin)
  const done: Done = new Map()
  await Promise.all(
    sessions.map((session, n) =>
      mix(session, { rounds: ROUNDS, random: new Random(seed + 1 + n), done })
    ),
  ).catch((cause) => {
    throw new Error(`mixture with seed ${seed} failed: ${cause.message}`, { cause })
  })
  // Making a partition holds its table longer than the tick and the cleanup wait for a lock, and so does a
  // session that gets no CPU for 0.1 s. What gave way is named, and the next step does the work.
  const isPutOff = (warning: string): boolean =>
    / (the cleanup step \w+ failed|is left out|cannot expire): 55P03 /.test(warning)
  expect(sessions.flatMap(({ warnings }) => warnings).filter((one) => !isPutOff(one))).toEqual([])
  const alone = first.warnings.length
  expect(await deadlocks(db.admin)).toBe(before)
  // What was resumed has its turn with the tick, and an empty lane goes with the cleanup.
  await first.sql`select outbox.tick(), outbox.cleanup()`
  await expectExactCounters(db.admin).catch((cause) => {
    throw new Error(`mixture with seed ${seed}: ${cause.message}`, { cause })
  })
  expect({ seed, left: await finish(first.sql) }).toEqual({ seed, left: [] })
  await expectExactCounters(db.admin)
  expect(first.warnings.slice(alone)).toEqual([])
  // Nothing was refused each time.
  const never = [...done].filter(([, count]) => count.done === 0).map(([name]) => name)
  expect(never).toEqual([])
})
