import { startOutbox } from './_support/database.ts'
import { crossDispatches } from './_support/crossing.ts'

/** Fewer in the short run: see tests/_run/behind_all/shrunk.ts. */
const calls = Deno.env.get('OUTHOOK_TESTS') === 'short' ? 600 : 1_600

Deno.test('dispatch() neither deadlocks nor loses count when complete, route and claim cross', async () => {
  await using db = await startOutbox()
  await crossDispatches(db, calls)
})
