/** @jsxImportSource preact */

import { useQueryClient } from '@tanstack/preact-query'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks'

/**
 * Keeps an error of a view from emptying the whole page. `fallback` shows a sentence in place of the view. The
 * view is rendered again when `at` changes, or by the function that `fallback` gets.
 */
export function Boundary({ at, fallback, tell, children }: {
  at: string
  fallback: (again: () => void) => JSX.Element
  /** Gets the error, which the page does not show: it may quote what was read. */
  tell(error: unknown): void
  children: ComponentChildren
}): JSX.Element {
  const queries = useQueryClient()
  const failedAt = useRef<string | null>(null)
  const [error, reset] = useErrorBoundary((thrown: unknown) => {
    failedAt.current = at
    tell(thrown)
  })
  // What the view has read may be the cause, and it would be shown again from the cache.
  useEffect(() => {
    if (error !== undefined) queries.removeQueries({ type: 'inactive' })
  }, [error])
  useEffect(() => {
    // This also runs after the render that failed, which must not be repeated.
    if (failedAt.current === null || failedAt.current === at) return
    failedAt.current = null
    reset()
  }, [at])
  return error === undefined ? <>{children}</> : fallback(reset)
}
