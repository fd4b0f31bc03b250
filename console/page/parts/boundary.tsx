/** @jsxImportSource preact */

import { useQueryClient } from '@tanstack/preact-query'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useErrorBoundary } from 'preact/hooks'

/**
 * Keeps an error of a view from emptying the whole page. `fallback` shows a sentence in place of the view. The
 * view is drawn again when `at` changes, or by the function that `fallback` gets.
 */
export function Boundary({ at, fallback, tell, children }: {
  at: string
  fallback: (again: () => void) => JSX.Element
  /** Gets the error, which the page does not show: it may quote what was read. */
  tell(error: unknown): void
  children: ComponentChildren
}): JSX.Element {
  const queries = useQueryClient()
  const [error, reset] = useErrorBoundary(tell)
  // What the view has read may be the cause, and it would be shown again from the cache.
  useEffect(() => {
    if (error !== undefined) queries.removeQueries({ type: 'inactive' })
  }, [error])
  useEffect(reset, [at])
  return error === undefined ? <>{children}</> : fallback(reset)
}
