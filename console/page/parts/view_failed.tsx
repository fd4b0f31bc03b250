/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { Boundary } from './boundary.tsx'
import { Problem } from './state.tsx'

/** Shown instead of the error that was thrown: see isFault(). */
const fault = new TypeError()

/** A view, or one sentence if it throws. The page around it stays. */
export function Guarded({ at, title, children }: {
  at: string
  /** The heading in place of that of the view. */
  title?: string
  children: ComponentChildren
}): JSX.Element {
  return (
    <Boundary
      at={at}
      tell={(error) => globalThis.reportError(error)}
      fallback={(again) => (
        <>
          {title !== undefined && <h1>{title}</h1>}
          <Problem error={fault} retry={again} />
        </>
      )}
    >
      {children}
    </Boundary>
  )
}
