/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { useContext } from 'preact/hooks'
import { isFault } from '../../../console/page/app/fault.ts'
import { visible } from '../../../console/page/app/format.ts'
import { PortalContext, usePortal } from '../app/context.ts'
import { useNow } from '../app/data.ts'
import { asFailure, isSignedOut } from '../app/failure.ts'
import type { Words } from '../app/words.ts'

/** What is said of an error; the text of a mistake is not shown. `without`: what a missing response is called. */
function saidOf(error: unknown, words: Words, without: 'noAnswer' | 'noResponse'): string {
  const failure = asFailure(error)
  if (failure === null) return words.t(without)
  return isFault(error) ? words.t('viewFailed') : `${visible(failure.message)}.`
}

/** An error, with what to do about it; without `retry` it is that of an action, which is not repeated. */
export function Problem({ error, words, retry }: {
  error: unknown
  words: Words
  retry?: () => void
}): JSX.Element | null {
  const portal = useContext(PortalContext)
  // The page says it once, at its top.
  if (portal?.isSignedOut() && isSignedOut(error)) return null
  const failure = asFailure(error)
  return (
    <div class='problem' role='alert'>
      <p>{saidOf(error, words, retry === undefined ? 'noAnswer' : 'noResponse')}</p>
      {failure !== null && failure.remedy !== null && (
        <p class='quiet'>{visible(failure.remedy)}.</p>
      )}
      {retry !== undefined && (
        <button type='button' part='button' onClick={retry}>{words.t('tryAgain')}</button>
      )}
    </div>
  )
}

/** The parts of a query result that matter here. */
export interface Reading<T> {
  data: T | undefined
  error: unknown
  isError: boolean
  dataUpdatedAt: number
  refetch(): unknown
}

/** What was read, or that it is being read, or why it cannot be. Old data stays, with its age. */
export function Read<T>({ of, children }: {
  of: Reading<T>
  children: (data: T) => ComponentChildren
}): JSX.Element {
  const { words, isSignedOut: isOut } = usePortal()
  if (of.data === undefined) {
    return of.isError
      ? <Problem error={of.error} words={words} retry={() => void of.refetch()} />
      : <p class='quiet' role='status'>{words.t('loading')}</p>
  }
  return (
    <>
      {of.isError && !(isOut() && isSignedOut(of.error)) && (
        <Stale error={of.error} since={of.dataUpdatedAt} />
      )}
      <div class={of.isError ? 'stale' : 'fresh'}>{children(of.data)}</div>
    </>
  )
}

function Stale({ error, since }: { error: unknown; since: number }): JSX.Element {
  const { words } = usePortal()
  const now = useNow()
  return (
    <p class='problem' role='alert'>
      {saidOf(error, words, 'noResponse')} {words.t('stale', { age: words.span(now - since) })}
    </p>
  )
}
