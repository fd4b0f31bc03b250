/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Problem } from './state.tsx'

/** A view whose code is loaded when it is first opened, so that the first page is small. */
export function later<Props extends object>(
  load: () => Promise<(props: Props) => JSX.Element>,
): (props: Props) => JSX.Element {
  let loaded: ((props: Props) => JSX.Element) | null = null
  return function Later(props: Props): JSX.Element {
    const [, setReady] = useState(loaded !== null)
    const [error, setError] = useState<unknown>(null)
    const [attempt, setAttempt] = useState(0)
    useEffect(() => {
      if (loaded !== null) return
      let isGone = false
      load().then((view) => {
        loaded = view
        if (!isGone) setReady(true)
      }, (failure) => {
        if (!isGone) setError(failure)
      })
      return () => {
        isGone = true
      }
    }, [attempt])
    if (loaded !== null) {
      const View = loaded
      return <View {...props} />
    }
    if (error === null) return <p class='quiet loading' role='status'>Loading</p>
    const retry = (): void => {
      setError(null)
      setAttempt(attempt + 1)
    }
    return <Problem error={new Error('This page cannot be loaded now')} retry={retry} />
  }
}
