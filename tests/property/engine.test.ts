import { printError } from '../../supabase/local/print.ts'
import { chooseSeed, playSequences, SEED } from './_support/check.ts'

const seed = chooseSeed()
const command = 'deno task test property/engine'

// The name shows the seed, since nothing else is shown of a test that passes.
Deno.test(`dispatch() loses nothing, repeats nothing and keeps order in 2,000 random sequences (${SEED}=${seed})`, async () => {
  await playSequences({ sequences: 2_000, steps: 30, seed, command }, printError)
})
