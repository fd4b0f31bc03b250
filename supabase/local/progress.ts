import { print, printStatus } from './print.ts'

/** How often a count is told where it cannot be shown in place. */
const EVERY_MS = 5_000

/** Tells how far something is that takes a while: in place on a terminal, in lines elsewhere. */
export interface Progress {
  /** The first call is told at once; on a terminal each one is, elsewhere one every few seconds. */
  at(text: string): void
}

/** A progress that tells its lines to `log`, which prints them unless said otherwise. */
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
