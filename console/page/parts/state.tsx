/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { asFailure } from '../app/api.ts'
import { useNow } from '../app/clock.ts'
import { isFault } from '../app/fault.ts'
import { span, visible } from '../app/format.ts'

/** What the page says in place of a view with a mistake. */
export const viewFailed = 'Something in this view failed: try again, or reload the page if it ' +
  'happens again, because it may be older than the API'

/** What is said of an error; the text of a mistake is not shown. */
function saidOf(error: unknown): { message: string; remedy: string | null } {
  return isFault(error) ? { message: viewFailed, remedy: null } : asFailure(error)
}

/** An error, with what to do about it. */
export function Problem({ error, retry }: { error: unknown; retry?: () => void }): JSX.Element {
  const { message, remedy } = saidOf(error)
  return (
    <div class='problem' role='alert'>
      <p>{visible(message)}.</p>
      {remedy !== null && <p class='quiet'>{visible(remedy)}.</p>}
      {retry !== undefined && <button type='button' onClick={retry}>Try again</button>}
    </div>
  )
}

/** What an empty page teaches. */
export function Empty({ title, isPage = false, children }: {
  title: string
  /** Whether the page has nothing else, so that this is its heading. */
  isPage?: boolean
  children?: ComponentChildren
}): JSX.Element {
  return (
    <div class='empty'>
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
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

/**
 * What was read, or that it is being read, or why it cannot be. If the API stops responding, the last
 * data stays, grey, with its age.
 */
export function Read<T>({ of, children }: {
  of: Reading<T>
  children: (data: T) => ComponentChildren
}): JSX.Element {
  if (of.data === undefined) {
    if (of.isError) return <Problem error={of.error} retry={() => void of.refetch()} />
    return <p class='quiet loading' role='status'>Loading</p>
  }
  return (
    <>
      {of.isError && <Stale error={of.error} since={of.dataUpdatedAt} />}
      <div class={of.isError ? 'stale' : 'fresh'}>{children(of.data)}</div>
    </>
  )
}

function Stale({ error, since }: { error: unknown; since: number }): JSX.Element {
  const now = useNow()
  return (
    <div class='problem' role='alert'>
      <p>{visible(saidOf(error).message)}. What is shown is {span(now - since)} old.</p>
    </div>
  )
}
