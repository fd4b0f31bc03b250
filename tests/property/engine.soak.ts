import { printError } from '../../supabase/local/print.ts'
import { chooseSeed, playSequences, SEED } from './_support/check.ts'

/** In CI, engine.test.ts plays 600 shorter ones too. */
const sequences = Deno.env.get('OUTHOOK_SOAK') === 'short' ? 500 : 40_000
const seed = chooseSeed()
const command = 'deno task soak property/engine'

Deno.test(`dispatch() keeps every promise in ${sequences} long random sequences (${SEED}=${seed})`, async () => {
  await playSequences({ sequences, steps: 80, seed, command }, printError)
})
