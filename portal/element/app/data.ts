import { QueryClient, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/preact-query'
import { useEffect, useState } from 'preact/hooks'
import { mayPass } from './failure.ts'

/** How often data is read again. A hidden tab reads nothing. */
export const everyMs = { live: 2000, list: 10_000, slow: 30_000 } as const

/** Each element on a page has its own. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        retry: (failures, error) => failures < 2 && mayPass(error),
        retryDelay: 1000,
        // Polling goes on offline, so that the page says when the API is back.
        networkMode: 'always',
        gcTime: 60_000,
      },
      mutations: { networkMode: 'always' },
    },
  })
}

type Key = readonly (string | number | null)[]

/** Reads something again and again. */
export function useRead<T>(
  key: Key,
  read: (signal: AbortSignal) => Promise<T>,
  { every = everyMs.list, enabled = true }: {
    every?: number | false | ((value: T | undefined) => number | false)
    enabled?: boolean
  } = {},
): UseQueryResult<T> {
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => read(signal),
    refetchInterval: typeof every === 'function' ? ({ state }) => every(state.data) : every,
    enabled,
  })
}

/** An action that runs once at a time, with its error. */
export interface Running {
  isRunning: boolean
  error: unknown
  /** Resolves with whether it succeeded. */
  run(): Promise<boolean>
}

/** Runs an action, then reads everything again. */
export function useAction(act: () => Promise<unknown>): Running {
  const queries = useQueryClient()
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<unknown>(null)
  return {
    isRunning,
    error,
    async run(): Promise<boolean> {
      setRunning(true)
      setError(null)
      try {
        await act()
        await queries.invalidateQueries()
        return true
      } catch (failure) {
        setError(failure)
        return false
      } finally {
        setRunning(false)
      }
    },
  }
}

/** The time in ms, again every second while the page is visible. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') setNow(Date.now())
    }, 1000)
    return () => clearInterval(timer)
  }, [])
  return now
}
