/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { api } from '../app/api.ts'
import { listPath } from '../app/list_path.ts'
import { PagedTable, usePages } from '../parts/pages.tsx'
import { Foreign, Time } from '../parts/value.tsx'
import { changeWords } from './change_words.ts'

/** Who changed an event type, what and when, newest first. */
export function TypeHistory({ type }: { type: string }): JSX.Element {
  const changes = usePages(
    ['event-type-changes', type],
    (cursor, signal) =>
      api.listEventTypeChanges({ query: { type, ...cursor === null ? {} : { cursor } }, signal }),
  )
  return (
    <section aria-label='History'>
      <h2>History</h2>
      <PagedTable
        of={changes}
        caption='Changes of this event type'
        path={listPath('/event-type-changes', { type })}
        head={['Time', 'What', 'Who']}
        row={(one) => (
          <tr key={one.id}>
            <td class='nowrap'>
              <Time at={one.at} />
            </td>
            <td>
              <Foreign text={changeWords(one)} />
            </td>
            <td>
              {one.actor === null
                ? <span class='quiet'>in SQL</span>
                : <Foreign text={one.actor} />}
            </td>
          </tr>
        )}
        empty={<p class='quiet'>No change of the last two years is recorded.</p>}
      />
    </section>
  )
}
