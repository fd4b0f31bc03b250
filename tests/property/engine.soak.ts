import { playSequences } from './_support/check.ts'

const sequences = Deno.env.get('OUTHOOK_SOAK') === 'short' ? 4_000 : 40_000

Deno.test(`dispatch() loses nothing, repeats nothing and keeps order in ${sequences} long random sequences`, async () => {
  await playSequences({ sequences, steps: 80 })
})
