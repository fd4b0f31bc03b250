/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { Empty } from '../parts/state.tsx'
import { may } from './session.ts'

type Scope = Parameters<typeof may>[0]

/** What only those see who may do it. */
export function Allowed({ to, children }: {
  to: Scope
  children: ComponentChildren
}): JSX.Element | null {
  return may(to) ? <>{children}</> : null
}

/** In place of a page that the token does not allow. */
export function NotAllowed(): JSX.Element {
  return (
    <Empty isPage title='This page is not for you'>
      <p>Your login does not have the scope that it needs. Ask whoever gives out the scopes.</p>
    </Empty>
  )
}
