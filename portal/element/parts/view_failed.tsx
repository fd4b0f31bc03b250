/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { Boundary } from '../../../console/page/parts/boundary.tsx'
import type { Words } from '../app/words.ts'
import { Problem } from './state.tsx'

/** Shown instead of the error that was thrown: see isFault(). */
const fault = new TypeError()

/** A view, or one sentence if it throws. The page around it stays. */
export function Guarded({ at, words, tell, children }: {
  at: string
  words: Words
  /** Gets the error, for the app around the element. */
  tell(error: unknown): void
  children: ComponentChildren
}): JSX.Element {
  return (
    <Boundary
      at={at}
      tell={tell}
      fallback={(again) => <Problem error={fault} words={words} retry={again} />}
    >
      {children}
    </Boundary>
  )
}
