/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { usePortal } from '../app/context.ts'
import { Go } from '../parts/go.tsx'
import { Read } from '../parts/state.tsx'
import { Foreign } from '../parts/value.tsx'
import { useEventTypes } from './catalogue.ts'
import { TypeDetails } from './type_details.tsx'

/** The catalogue: what may be received. */
export function EventTypesView({ selected }: { selected: string | null }): JSX.Element {
  const { words: { t } } = usePortal()
  const types = useEventTypes()
  return (
    <section aria-labelledby='types-title'>
      <h2 id='types-title'>{t('eventTypes')}</h2>
      <Read of={types}>
        {(all) =>
          all.length === 0 ? <p class='empty'>{t('noEventTypes')}</p> : (
            <ul class='types'>
              {all.map((one) => (
                <li key={one.type} class='type-item'>
                  <h3>
                    <Go
                      to={selected === one.type ? 'event-types' : `event-types/${one.type}`}
                      current={selected === one.type}
                    >
                      <code>
                        <Foreign text={one.type} />
                      </code>
                    </Go>
                  </h3>
                  {one.description !== '' && (
                    <p>
                      <Foreign text={one.description} />
                    </p>
                  )}
                  {selected === one.type && <TypeDetails one={one} />}
                </li>
              ))}
            </ul>
          )}
      </Read>
    </section>
  )
}
