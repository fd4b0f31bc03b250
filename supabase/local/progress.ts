import { print, printStatus } from './print.ts'

/** How often a count is printed without a terminal. */
const EVERY_MS = 5_000

/** Shows the progress of a long step: in one status line on a terminal, otherwise in lines. */
export interface Progress {
  /** Shows the first call at once; then on a terminal each call, otherwise one call every few seconds. */
  at(text: string): void
}

/** Creates a progress display that writes its lines with `log`; default: standard output. */
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
