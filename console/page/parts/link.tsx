/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { navigate, withOrg } from '../app/location.ts'

/** A link within the console. A modified click opens a tab, as with any link. */
export function Link({ to, children, current = false, row = false, ...rest }: {
  to: string
  children: ComponentChildren
  class?: string
  title?: string
  /** Whether it leads to the page that is shown. */
  current?: boolean
  /** Whether the keys j and k stop at it. */
  row?: boolean
}): JSX.Element {
  const follow = (event: MouseEvent): void => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    navigate(to)
  }
  return (
    <a
      href={withOrg(to)}
      onClick={follow}
      aria-current={current ? 'page' : undefined}
      data-row={row ? '' : undefined}
      {...rest}
    >
      {children}
    </a>
  )
}
