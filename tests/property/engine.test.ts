import { playSequences } from './_support/check.ts'

Deno.test('dispatch() loses nothing, repeats nothing and keeps order in 2,000 random sequences', async () => {
  await playSequences({ sequences: 2_000, steps: 30 })
})
