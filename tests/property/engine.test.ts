import { printError } from '../../supabase/local/print.ts'
import { chooseSeed, playSequences, SEED } from './_support/check.ts'

const seed = chooseSeed()
const command = 'deno task test property/engine'

/** Fewer in the short run: see tests/_run/behind_all/shrunk.ts. */
const sequences = Deno.env.get('OUTHOOK_TESTS') === 'short' ? 60 : 600

// The name shows the seed, since nothing else is shown of a test that passes.
Deno.test(`dispatch() loses nothing, repeats nothing and keeps order in ${sequences} random sequences (${SEED}=${seed})`, async () => {
  await playSequences({ sequences, steps: 30, seed, command }, printError)
})
