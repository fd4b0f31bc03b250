import { messageOf } from '../../supabase/local/errors.ts'
import { ensurePostgres } from '../../supabase/local/postgres/mod.ts'
import { print } from '../../supabase/local/print.ts'
import { ensureBrokers } from '../_support/brokers/install.ts'
import { ensurePrograms } from '../_support/programs.ts'
import { toolWork } from './tools.ts'

/**
 * Installs what the steps need and says so, since on a fresh machine it takes a minute. What cannot
 * be installed is told here with its remedy, and fails the steps that need it, no others.
 */
export async function setUp(root: string): Promise<void> {
  const log = (line: string): void => print(`setup: ${line}`)
  const work = [
    () => ensurePostgres({ log }),
    () => ensureBrokers({ log }),
    () => ensurePrograms({ log }),
    ...toolWork(root, log),
  ]
  for (const one of work) {
    try {
      await one()
    } catch (error) {
      log(messageOf(error))
    }
  }
}
