import {
  keepPreviousData,
  QueryClient,
  useQuery,
  type UseQueryResult,
} from '@tanstack/preact-query'
import type { Output } from '../../../package/client/operation_types.ts'
import { api, asFailure } from './api.ts'
import { orgOf, usePlace } from './location.ts'
import type { Failure } from './request.ts'

/** How often data is read again. A hidden tab reads nothing. */
export const everyMs = { live: 2000, list: 5000, slow: 30_000 } as const

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (failures, error) => failures < 2 && mayPass(asFailure(error)),
      retryDelay: 1000,
      // Polling goes on offline, so that the page says when the API is back.
      networkMode: 'always',
      gcTime: 60_000,
    },
    mutations: { networkMode: 'always' },
  },
})

function mayPass({ status }: Failure): boolean {
  return status === 0 || status === 429 || status >= 500
}

/** An element of a query key. */
type Key = string | number | null | Record<string, string | number | undefined>

/** Reads something of the current organisation, again and again. */
export function useLive<T>(
  key: readonly Key[],
  read: (signal: AbortSignal) => Promise<T>,
  options: {
    every?: number | false
    enabled?: boolean
    keep?: boolean
    /** The time to the next reading, by what was read. */
    everyOf?: (value: T | undefined) => number | false
  } = {},
): UseQueryResult<T> {
  const org = orgOf(usePlace())
  const { every = everyMs.list, everyOf } = options
  return useQuery({
    queryKey: [org, ...key],
    queryFn: ({ signal }) => read(signal),
    refetchInterval: everyOf === undefined ? every : (query) => everyOf(query.state.data),
    enabled: options.enabled ?? true,
    ...options.keep === true ? { placeholderData: keepPreviousData } : {},
  })
}

/** The endpoint with an id; read once for all places that name it. */
export function useEndpoint(
  endpointId: string,
  every: number | false = false,
  enabled = true,
): UseQueryResult<Output<'getEndpoint'>> {
  const org = orgOf(usePlace())
  return useQuery({
    queryKey: [org, 'endpoint', endpointId],
    queryFn: ({ signal }) => api.getEndpoint({ path: { endpointId }, signal }),
    enabled,
    staleTime: every === false ? 60_000 : 0,
    refetchInterval: every,
  })
}

/** Reads everything again, after an action. */
export async function refresh(): Promise<void> {
  await queryClient.invalidateQueries()
}
