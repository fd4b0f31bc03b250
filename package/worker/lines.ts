import { runtime } from '../../functions/_shared/runtime/current.ts'

/**
 * Passes each line of a text on. A line goes to standard output if there is no `log`, or if it throws: an error
 * of it would otherwise end the process, because nobody waits for a log.
 */
export function writeTo(log: ((line: string) => void) | undefined): (text: string) => void {
  return (text) => {
    for (const line of text.split('\n')) {
      if (line === '') continue
      try {
        if (log !== undefined) {
          log(line)
          continue
        }
      } catch {
        // Below.
      }
      runtime.writeStdout(`${line}\n`)
    }
  }
}
