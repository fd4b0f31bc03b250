/** @jsxImportSource preact */

import { type InfiniteData, useInfiniteQuery } from '@tanstack/preact-query'
import type { ComponentChildren, JSX } from 'preact'
import { everyMs } from '../app/data.ts'
import { count } from '../app/format.ts'
import { orgOf, usePlace } from '../app/location.ts'
import { Problem, Read } from './state.tsx'

interface Page<T> {
  data: T[]
  nextCursor: string | null
}

/** A list that grows by pages. Only the first page is read again while it is the only one. */
export interface Pages<T> {
  data: T[] | undefined
  error: unknown
  isError: boolean
  dataUpdatedAt: number
  hasMore: boolean
  isLoadingMore: boolean
  more(): void
  refetch(): unknown
}

/** Kept at most, so that a page left open does not grow. */
const maxPages = 20

/** Reads a list of the API page by page. */
export function usePages<T>(
  key: readonly (string | number | null)[],
  read: (cursor: string | null, signal: AbortSignal) => Promise<Page<T>>,
  enabled = true,
): Pages<T> {
  const org = orgOf(usePlace())
  const query = useInfiniteQuery<
    Page<T>,
    Error,
    InfiniteData<Page<T>>,
    (string | number | null)[],
    string | null
  >({
    queryKey: [org, ...key],
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: null,
    getNextPageParam: (last) => last.nextCursor,
    getPreviousPageParam: () => undefined,
    maxPages,
    enabled,
    refetchInterval: ({ state }) => (state.data?.pages.length ?? 1) > 1 ? false : everyMs.list,
  })
  return {
    data: query.data?.pages.flatMap(({ data }) => data),
    error: query.error,
    isError: query.isError,
    dataUpdatedAt: query.dataUpdatedAt,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    more: () => void query.fetchNextPage(),
    refetch: () => query.refetch(),
  }
}

/** A table of such a list, with what it says when it is empty. */
export function PagedTable<T>({ of, head, row, empty, caption }: {
  of: Pages<T>
  caption: string
  head: readonly string[]
  row: (item: T) => JSX.Element
  empty: ComponentChildren
}): JSX.Element {
  return (
    <Read of={of}>
      {(items) =>
        items.length === 0 && !of.hasMore ? empty : (
          <>
            <div class='table-box'>
              <table>
                <caption class='hidden'>{caption}</caption>
                <thead>
                  <tr>{head.map((name) => <th key={name} scope='col'>{name}</th>)}</tr>
                </thead>
                <tbody>{items.map(row)}</tbody>
              </table>
            </div>
            <div class='row pager'>
              <span class='quiet'>
                {of.hasMore
                  ? `${count(items.length, 'row')} of more, newest first`
                  : `${count(items.length, 'row')}, all`}
              </span>
              {of.hasMore && (
                <button type='button' disabled={of.isLoadingMore} onClick={of.more}>
                  {of.isLoadingMore ? 'Loading' : 'Load older'}
                </button>
              )}
            </div>
            {of.isError && of.data === undefined && <Problem error={of.error} />}
          </>
        )}
    </Read>
  )
}
