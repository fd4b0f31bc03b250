/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { Empty } from '../parts/state.tsx'
import type { Needs } from './pages.ts'
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
export function NotAllowed({ needs }: { needs: Needs }): JSX.Element {
  return (
    <Empty isPage title='You may not open this page'>
      {needs === 'key'
        ? <p>Only a secret key opens it, in the console that an operator starts.</p>
        : (
          <p>
            Your login needs the scope <code>{needs.join(' or ')}</code>.
          </p>
        )}
    </Empty>
  )
}
