/**
 * Fourteen days of a large sender, simulated: the real engine in a real Postgres, by a clock of its own, with a
 * model of receivers instead of HTTP. 100 million deliveries a day are divided by a scale.
 *
 *   npx -y deno@2.9.6 task soak days --scale 1000
 *
 * With OUTHOOK_SOAK_RECORD=1 it writes its figures to days/figures/, of which docs/reliability.md has a table.
 */

import { expect } from '@std/expect'
import { print } from '../../supabase/local/print.ts'
import { newSeed } from '../concurrency/_support/random.ts'
import { checkDays } from './days/checker.ts'
import { playDays } from './days/play.ts'
import { DAY_HEAD, tellDay, tellPace } from './days/report.ts'
import { keep, without } from './days/kept.ts'

const isShort = Deno.env.get('OUTHOOK_SOAK') === 'short'
const scale = Number(Deno.env.get('OUTHOOK_SOAK_SCALE') ?? (isShort ? 50_000 : 1_000))
const seed = Number(Deno.env.get('OUTHOOK_SOAK_SEED') ?? newSeed())
const perDay = Math.round(100_000_000 / scale)

Deno.test(`14 days at 1/${scale} of 100 million deliveries leave nothing behind (seed ${seed})`, async () => {
  print(`scale 1/${scale}, ${perDay} deliveries a day, 14 days\n${DAY_HEAD}`)
  const began = performance.now()
  const wall = (): number => Math.round((performance.now() - began) / 100) / 10
  const { days, differences } = await playDays({
    ...{ days: 14, perDay, seed, without },
    stepMs: scale > 1_000 ? 1_200_000 : 300_000,
    grainMs: scale > 1_000 ? 1_000 : 5_000,
    tell: (figures) => {
      const { day: days, ledger: { accepted } } = figures
      print(`${tellDay(figures)}\n  ${tellPace({ scale, days, accepted, wall_s: wall() })}`)
    },
  })
  await keep({ scale, perDay, seed, without, wall_s: wall(), days })
  expect([...checkDays(days, perDay), ...differences]).toEqual([])
})
