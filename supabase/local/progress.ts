import { print, printStatus } from './print.ts'

/** How often to print a count if there is no terminal. */
const EVERY_MS = 5_000

/** Shows the progress of a long step: in one status line on a terminal, in lines elsewhere. */
export interface Progress {
  /** Shows the first call at once. Shows each further call on a terminal, else one every few seconds. */
  at(text: string): void
}

/** Makes a progress display that writes its lines with `log`, which prints them by default. */
export function startProgress(
  { log = print, now = () => performance.now(), isTerminal = Deno.stderr.isTerminal() }: {
    log?: (line: string) => void
    now?: () => number
    isTerminal?: boolean
  } = {},
): Progress {
  let toldAt: number | null = null
  return {
    at(text): void {
      if (isTerminal) return printStatus(text)
      if (toldAt !== null && now() - toldAt < EVERY_MS) return
      toldAt = now()
      log(text)
    },
  }
}
