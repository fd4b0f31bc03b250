/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { Link } from '../parts/link.tsx'
import { Foreign } from '../parts/value.tsx'
import { ChangeItem, ChangeList } from './change_list.tsx'
import { type HistoryItem, numbersRead } from './history.ts'

/** What was read of a history: its items, newest first, and whether older ones were left out. */
export interface History {
  items: HistoryItem[]
  isCut: boolean
}

export function HistoryList({ history }: { history: History }): JSX.Element {
  return (
    <section class='card' aria-label='History'>
      <h2>History, newest first</h2>
      {history.items.length === 0
        ? <p class='quiet'>Nothing is stored yet.</p>
        : (
          <ChangeList label='History'>
            {history.items.map((one) => (
              <ChangeItem
                key={one.key}
                tone={one.tone}
                at={one.at}
                title={one.to === null ? <Foreign text={one.title} /> : (
                  <Link to={one.to}>
                    <Foreign text={one.title} />
                  </Link>
                )}
              >
                {one.text !== null && one.text !== '' && (
                  <p>
                    <Foreign text={one.text} />
                  </p>
                )}
              </ChangeItem>
            ))}
          </ChangeList>
        )}
      {history.isCut && (
        <p class='quiet'>
          Only the newest 100 of each kind are shown, of at most {numbersRead} numbers. The{' '}
          <Link to='/messages'>list</Link> has all messages.
        </p>
      )}
    </section>
  )
}
