import { messageOf } from '../../supabase/local/errors.ts'
import { ensureTool } from '../../supabase/local/npm_tool.ts'
import { ensurePostgres } from '../../supabase/local/postgres/mod.ts'
import { print } from '../../supabase/local/print.ts'
import { cliVersions } from '../../supabase/local/supabase_cli.ts'
import { ensureBrokers } from '../_support/brokers/install.ts'

/** The Deno level of the edge runtime: what functions/ contains must run there too. */
export const edgeDeno = '2.1.4'

/**
 * Installs what the steps need and says so, since on a fresh machine it takes a minute. What cannot
 * be installed is told here with its remedy, and fails the steps that need it, no others.
 */
export async function setUp(root: string): Promise<void> {
  const log = (line: string): void => print(`setup: ${line}`)
  const work = [
    () => ensurePostgres({ log }),
    () => ensureBrokers({ log }),
    () => ensureTool(root, 'deno', edgeDeno, log),
    ...cliVersions.map((version) => () => ensureTool(root, 'supabase', version, log)),
  ]
  for (const one of work) {
    try {
      await one()
    } catch (error) {
      log(messageOf(error))
    }
  }
}
