import type { WebhookError } from './errors.ts'
import type { WebhookEvent } from './event.ts'

/** Calls a function of the user. What it throws must not decide the response, nor end the process. */
export function quietly(report: () => void): void {
  try {
    report()
  } catch (error) {
    log('onError or onRefused failed:', error)
  }
}

/** What happens to an error if the user has not said it. */
export function reportError(error: unknown, event: WebhookEvent | null): void {
  log(`Webhook ${event?.id ?? ''} was not processed:`, error)
}

const quietMs = 60_000

/** The same for a refused request. Anybody can send one, so there is at most one line a minute. */
export function refusalReport(now: () => number): (error: WebhookError) => void {
  let quietUntil = -Infinity
  return function report({ code, message }): void {
    if (now() < quietUntil) return
    quietUntil = now() + quietMs
    log(`A webhook was refused: ${code}: ${message}`)
  }
}

function log(...parts: unknown[]): void {
  // deno-lint-ignore no-console -- the log of a program that has set no other
  console.error(...parts)
}
