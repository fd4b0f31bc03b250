/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { usePortal } from '../app/context.ts'
import type { Pages } from '../app/pages.ts'

/** The end of a list: how many rows are shown, and buttons for the newest and for older ones. */
export function More<T>({ of, n }: { of: Pages<T>; n: number }): JSX.Element {
  const { words: { t } } = usePortal()
  return (
    <div class='row pager'>
      <span class='quiet'>
        {t(of.isBehind ? 'rowsBehind' : of.hasMore ? 'rowsMore' : 'rowsAll', { n })}
      </span>
      {of.isBehind && (
        <button type='button' part='button' onClick={of.newest}>{t('showNewest')}</button>
      )}
      {of.hasMore && (
        <button type='button' part='button' disabled={of.isLoadingMore} onClick={of.more}>
          {t('loadOlder')}
        </button>
      )}
    </div>
  )
}
