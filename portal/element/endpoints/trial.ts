import { useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'

type Result = Output<'tryFilter'>

/** A trial of a filter on recent events. */
export interface Trial {
  isRunning: boolean
  /** What it has shown; null if nothing was tried, or if it failed. */
  trial: Result | null
  error: unknown
  run(): Promise<void>
}

/** Whoever calls the API for a trial: the client of the console or that of the portal. */
interface Caller {
  tryFilter(args: { body: { filter: string; eventTypes?: string[] } }): Promise<Result>
}

/** Tries a filter when asked. The result of another filter or other types would mislead: it is not shown. */
export function useTrial(caller: Caller, filter: string, eventTypes: string[]): Trial {
  const [result, setResult] = useState<{ of: string; trial: Result | null; error: unknown } | null>(
    null,
  )
  const [isRunning, setRunning] = useState(false)
  const of = JSON.stringify([filter, eventTypes])
  const { trial, error } = result?.of === of ? result : { trial: null, error: null }
  return {
    isRunning,
    trial,
    error,
    async run(): Promise<void> {
      setRunning(true)
      try {
        const body = eventTypes.length === 0 ? { filter } : { filter, eventTypes }
        setResult({ of, trial: await caller.tryFilter({ body }), error: null })
      } catch (failure) {
        setResult({ of, trial: null, error: failure })
      } finally {
        setRunning(false)
      }
    },
  }
}
