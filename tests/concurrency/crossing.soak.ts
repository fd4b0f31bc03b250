import { print } from '../../supabase/local/print.ts'
import { startOutbox } from './_support/database.ts'
import { crossDispatches } from './_support/crossing.ts'

/** The short form only shows that this file works: in CI, crossing.test.ts makes 1,600. */
const calls = Deno.env.get('OUTHOOK_SOAK') === 'short' ? 200 : 10_000

Deno.test(`dispatch() neither deadlocks nor loses count in ${calls} crossing calls`, async () => {
  await using db = await startOutbox()
  const { events, seconds } = await crossDispatches(db, calls)
  print(`  ${calls} calls, ${events} events to 20 endpoints, ${seconds.toFixed(0)} s`)
})
