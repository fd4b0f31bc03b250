import { setTimeout as delay } from 'node:timers/promises'

/** The error if a signal stops the command before it has started. */
export class Interrupted extends Error {
  override name = 'Interrupted'
}

/** The exit code that shells use for a program that Ctrl-C ended. */
export const INTERRUPTED_CODE = 130

/** An AbortSignal that aborts with an `Interrupted` at SIGINT or SIGTERM. */
export function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    Deno.addSignalListener(signal, () => controller.abort(new Interrupted('interrupted')))
  }
  return controller.signal
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<'interrupted'> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve('interrupted')
    signal.addEventListener('abort', () => resolve('interrupted'), { once: true })
  })
}

/**
 * Ctrl-C signals the whole process group. The end of a child may arrive before the signal does, so
 * a failure waits this long for the signal that may be its cause.
 */
const SIGNAL_DELAY_MS = 250

/** After a failure: waits for the signal that may be its cause, and throws the signal's reason. */
export async function throwIfInterrupted(signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return
  await delay(SIGNAL_DELAY_MS, undefined, { signal }).catch(() => {})
  signal.throwIfAborted()
}

/**
 * Resolves as `work` does, or rejects with the signal's reason as soon as it aborts. Then the caller
 * stops what the work needs, and the outcome of the work itself is ignored. Rejects as `work` does
 * unless the signal aborts within SIGNAL_DELAY_MS of that.
 */
export function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, async (error) => {
      await throwIfInterrupted(signal).catch(() => {})
      reject(error)
    }).finally(() => signal.removeEventListener('abort', stop))
  })
}
