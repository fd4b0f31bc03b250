/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { usePortal } from '../app/context.ts'

/** What leads to another page: a link if pages have addresses, else a button that looks like one. */
export function Go({ to, children, current = false, class: name = 'link' }: {
  to: string
  children: ComponentChildren
  class?: string
  /** Whether it leads to what is shown. */
  current?: boolean
}): JSX.Element {
  const { router } = usePortal()
  const href = router.hrefOf(to)
  // A link that looks like a button is one for the app that styles it.
  const part = name.startsWith('button') ? { part: 'button' } : {}
  const here = current ? { 'aria-current': 'page' as const } : {}
  if (href !== undefined) return <a href={href} class={name} {...part} {...here}>{children}</a>
  return (
    <button type='button' class={name} onClick={() => router.go(to)} {...part} {...here}>
      {children}
    </button>
  )
}
