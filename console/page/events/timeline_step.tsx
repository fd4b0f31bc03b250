/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { Time, type Tone } from '../parts/value.tsx'

/** One thing that happened, or will happen. */
export function Step({ tone, at, title, children }: {
  tone: Tone
  at?: string
  title: ComponentChildren
  children?: ComponentChildren
}): JSX.Element {
  return (
    <li class={`step ${tone}`}>
      <div class='step-head'>
        <strong>{title}</strong>
        {at !== undefined && (
          <span class='quiet'>
            <Time at={at} />
          </span>
        )}
      </div>
      {children}
    </li>
  )
}
