import { type InfiniteData, useInfiniteQuery } from '@tanstack/preact-query'
import { everyMs } from './data.ts'

interface Page<T> {
  data: T[]
  nextCursor: string | null
  /** Whether there are more without a way to read them. */
  isCut?: boolean
}

/** A list that grows by pages. It is read again while it has one page. */
export interface Pages<T> {
  data: T[] | undefined
  error: unknown
  isError: boolean
  dataUpdatedAt: number
  hasMore: boolean
  /** Whether there are more without a way to read them. */
  isCut: boolean
  isLoadingMore: boolean
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
  return {
    data: query.data?.pages.flatMap(({ data }) => data),
    error: query.error,
    isError: query.isError,
    dataUpdatedAt: query.dataUpdatedAt,
    hasMore: query.hasNextPage,
    isCut: query.data?.pages.at(-1)?.isCut === true,
    isLoadingMore: query.isFetchingNextPage,
    more: () => void query.fetchNextPage(),
    refetch: () => query.refetch(),
  }
}
