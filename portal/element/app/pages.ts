import {
  type InfiniteData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/preact-query'
import { useRef } from 'preact/hooks'
import { everyMs } from './data.ts'
import { withNewest } from './newest.ts'

interface Page<T> {
  data: T[]
  nextCursor: string | null
  /** Whether there are more without a way to read them. */
  isCut?: boolean
}

/** A list that grows by pages. Its newest page is read again, also if there are older ones. */
export interface Pages<T> {
  data: T[] | undefined
  error: unknown
  isError: boolean
  dataUpdatedAt: number
  hasMore: boolean
  /** Whether there are more without a way to read them. */
  isCut: boolean
  isLoadingMore: boolean
  /** Whether there are newer rows than the first one. */
  isBehind: boolean
  /** Begins again with the newest page. */
  newest(): void
  more(): void
  refetch(): unknown
}

type Key = readonly (string | number | null)[]

/** Kept at most, so that a page left open does not grow. */
const maxPages = 20

/** Refuses a response that is not a page here, where the list shows the error: a later render would not. */
function checked<T>(page: Page<T>): Page<T> {
  if (!Array.isArray(page?.data)) throw new TypeError('The response is no page of a list')
  return page
}

/** Reads a list of the API page by page; `every`: how often it is read again, in milliseconds. */
export function usePages<T>(
  key: Key,
  read: (cursor: string | null, signal: AbortSignal) => Promise<Page<T>>,
  { enabled = true, every = everyMs.list }: { enabled?: boolean; every?: number } = {},
): Pages<T> {
  const query = useInfiniteQuery<Page<T>, Error, InfiniteData<Page<T>>, Key, string | null>({
    queryKey: key,
    queryFn: async ({ pageParam, signal }) => checked(await read(pageParam, signal)),
    initialPageParam: null,
    getNextPageParam: (last) => last.nextCursor,
    getPreviousPageParam: () => undefined,
    maxPages,
    enabled,
    refetchInterval: ({ state }) => (state.data?.pages.length ?? 1) > 1 ? false : every,
  })
  const { pages = [], pageParams = [] } = query.data ?? {}
  const isDropped = pageParams.length > 0 && pageParams[0] !== null
  const client = useQueryClient()
  const first = useQuery({
    queryKey: [...key, 'newest page'],
    queryFn: async ({ signal }) => checked(await read(null, signal)),
    enabled: enabled && pages.length > 1 && !isDropped,
    refetchInterval: every,
  })
  // A first page that was read before the list was is older than it.
  const seen = useRef<{ page?: Page<T>; at: number; fits?: Page<T> }>({ at: 0 })
  if (seen.current.page !== pages[0]) {
    seen.current = { ...pages[0] === undefined ? {} : { page: pages[0] }, at: query.dataUpdatedAt }
  }
  const held = pages.flatMap(({ data }) => data)
  const isNewer = pages.length > 1 && !isDropped && first.dataUpdatedAt >= seen.current.at
  const merged = isNewer && first.data !== undefined ? withNewest(first.data, held) : held
  if (isNewer && first.data !== undefined && merged !== null) seen.current.fits = first.data
  // After a gap the rows stay that were shown before it.
  const { fits } = seen.current
  const kept = merged ?? (fits === undefined ? null : withNewest(fits, held)) ?? held
  return {
    data: query.data === undefined ? undefined : kept,
    error: query.error,
    isError: query.isError,
    dataUpdatedAt: query.dataUpdatedAt,
    hasMore: query.hasNextPage,
    isCut: query.data?.pages.at(-1)?.isCut === true,
    isLoadingMore: query.isFetchingNextPage,
    isBehind: isDropped || merged === null,
    newest: () => void client.resetQueries({ queryKey: key, exact: true }),
    more: () => void query.fetchNextPage(),
    refetch: () => query.refetch(),
  }
}
