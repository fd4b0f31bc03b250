/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { Link } from '../parts/link.tsx'

const tabs = [
  ['/messages', 'Outbound'],
  ['/inbound', 'Inbound'],
  ['/channels', 'Channels'],
  ['/templates', 'Templates'],
] as const

/** The head of the pages about messages, with the ways between them. */
export function MessageTabs({ at }: { at: (typeof tabs)[number][0] }): JSX.Element {
  return (
    <div class='page-head'>
      <h1>Messages</h1>
      <nav class='segments' aria-label='Pages about messages'>
        {tabs.map(([to, name]) => <Link key={to} to={to} current={to === at}>{name}</Link>)}
      </nav>
    </div>
  )
}
