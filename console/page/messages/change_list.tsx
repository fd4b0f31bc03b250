/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { Time, type Tone } from '../parts/value.tsx'

/** A timeline of what happened. */
export function ChangeList({ label, children }: {
  label: string
  children: ComponentChildren
}): JSX.Element {
  return <ol class='timeline' aria-label={label}>{children}</ol>
}

/** One thing that happened at a time. */
export function ChangeItem({ tone, at, title, children }: {
  tone: Tone
  at: string
  title: ComponentChildren
  children?: ComponentChildren
}): JSX.Element {
  return (
    <li class={`step ${tone}`}>
      <div class='step-head'>
        <strong>{title}</strong>
        <span class='quiet'>
          <Time at={at} />
        </span>
      </div>
      {children}
    </li>
  )
}
