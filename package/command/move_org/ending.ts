import { exitCodes, type Terminal } from '../terminal.ts'
import { type MoveDatabase, MoveError } from './database.ts'

/** Returns the exit code of `work`, prints a MoveError with its remedy, and then closes the databases. */
export async function closing(
  databases: Iterable<MoveDatabase>,
  { printError }: Pick<Terminal, 'printError'>,
  work: () => Promise<number>,
): Promise<number> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof MoveError)) throw error
    printError(error.message)
    if (error.hint !== null) printError(error.hint)
    return exitCodes.failed
  } finally {
    await Promise.allSettled([...databases].map((one) => one.close()))
  }
}
