/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { type Pages, usePages as useKeyedPages } from '../../../portal/element/app/pages.ts'
import { everyMs } from '../app/data.ts'
import { count } from '../app/format.ts'
import { orgOf, usePlace } from '../app/location.ts'
import { CopyCommands } from './copy_commands.tsx'
import { Problem, Read } from './state.tsx'

/** Reads a list of the current organisation page by page. */
export function usePages<T>(
  key: readonly (string | number | null)[],
  read: Parameters<typeof useKeyedPages<T>>[1],
  enabled = true,
): Pages<T> {
  return useKeyedPages([orgOf(usePlace()), ...key], read, { enabled, every: everyMs.list })
}

/** A table of such a list, with what it says when it is empty. */
export function PagedTable<T>({ of, head, first, row, empty, caption, path }: {
  of: Pages<T>
  caption: string
  head: readonly string[]
  /** What the first cell of the head shows in place of its name. */
  first?: JSX.Element | undefined
  row: (item: T) => JSX.Element
  empty: ComponentChildren
  /** The path of the API that reads it, to copy. */
  path?: string | undefined
}): JSX.Element {
  return (
    <Read of={of}>
      {(items) =>
        items.length === 0 && !of.hasMore
          ? <>{empty}{path !== undefined && <CopyCommands path={path} />}</>
          : (
            <>
              <div class='table-box'>
                <table>
                  <caption class='hidden'>{caption}</caption>
                  <thead>
                    <tr>
                      {head.map((name, n) => (
                        <th key={name} scope='col'>
                          {n === 0 && first !== undefined ? first : name}
                        </th>
                      ))}
                    </tr>
                  </thead>
                  <tbody>{items.map(row)}</tbody>
                </table>
              </div>
              <div class='row pager'>
                <span class='quiet'>
                  {of.isBehind
                    ? `${count(items.length, 'row')}, and newer ones that are not shown`
                    : of.hasMore
                    ? `${count(items.length, 'row')} of more, newest first`
                    : of.isCut
                    ? `the newest ${count(items.length, 'row')} of more`
                    : `${count(items.length, 'row')}, all`}
                </span>
                {of.isBehind && <button type='button' onClick={of.newest}>Show the newest</button>}
                {of.hasMore && (
                  <button type='button' disabled={of.isLoadingMore} onClick={of.more}>
                    {of.isLoadingMore ? 'Loading' : 'Load older'}
                  </button>
                )}
                {path !== undefined && <CopyCommands path={path} />}
              </div>
              {of.isError && of.data === undefined && <Problem error={of.error} />}
            </>
          )}
    </Read>
  )
}
