import { startOutbox } from './_support/database.ts'
import { crossDispatches } from './_support/crossing.ts'

Deno.test('dispatch() neither deadlocks nor loses count when complete, route and claim cross', async () => {
  await using db = await startOutbox()
  await crossDispatches(db, 1600)
})
