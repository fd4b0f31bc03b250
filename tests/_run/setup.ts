import { messageOf } from '../../supabase/local/errors.ts'
import { ensurePostgres } from '../../supabase/local/postgres/mod.ts'
import { print } from '../../supabase/local/print.ts'
import { ensureBrokers } from '../_support/brokers/install.ts'
import { ensurePrograms, PROGRAMS } from '../_support/programs.ts'
import { type Need, needsOf, programsOf } from './needs.ts'
import { reachedFrom } from './sources.ts'
import type { Part } from './step.ts'
import { edgeDeno, toolWork } from './tools.ts'

/**
 * Installs what the parts need and says so, since on a fresh machine it takes a minute. What cannot
 * be installed is told here with its remedy, and fails the parts that need it, no others.
 */
export async function setUp(root: string, parts: readonly Part[]): Promise<void> {
  const log = (line: string): void => print(`setup: ${line}`)
  const sources = await reachedFrom(root, parts.flatMap(({ files }) => files))
  const needs = needsOf(sources)
  if (parts.some(({ deno }) => deno === edgeDeno)) needs.add('edge Deno')
  const programs = programsOf(sources, Object.keys(PROGRAMS))
  const work: readonly (readonly [Need | null, () => Promise<unknown>])[] = [
    ['postgres', () => ensurePostgres({ log })],
    ['brokers', () => ensureBrokers({ log })],
    [null, () => ensurePrograms({ programs, log })],
    ...toolWork(root, log),
  ]
  for (const [need, one] of work) {
    if (need !== null && !needs.has(need)) continue
    try {
      await one()
    } catch (error) {
      log(messageOf(error))
    }
  }
}
