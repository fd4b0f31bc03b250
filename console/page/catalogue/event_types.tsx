/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { exampleOf } from '../../../portal/element/types/example.ts'
import { api, asFailure } from '../app/api.ts'
import { useLive } from '../app/data.ts'
import { may } from '../app/session.ts'
import { JsonView } from '../parts/json_view.tsx'
import { CopyCommands } from '../parts/copy_commands.tsx'
import { Link } from '../parts/link.tsx'
import { PagedTable, usePages } from '../parts/pages.tsx'
import { Empty, Read } from '../parts/state.tsx'
import { Foreign, Time } from '../parts/value.tsx'
import { TypeHistory } from './history.tsx'

/** The catalogue of event types. */
export function EventTypesPage(): JSX.Element {
  const catalogue = useLive(['catalogue'], (signal) => api.getCatalogue({ signal }))
  const types = usePages(
    ['event-types'],
    (cursor, signal) => api.listEventTypes({ query: cursor === null ? {} : { cursor }, signal }),
  )
  return (
    <>
      <div class='page-head'>
        <h1>Event types</h1>
      </div>
      {catalogue.data !== undefined && (
        <p class='hint'>
          {catalogue.data.strict
            ? 'The catalogue is strict: events of other types, and payloads that do not fit their ' +
              'schema, are refused.'
            : 'The catalogue is not strict: it describes events, and refuses none.'}
        </p>
      )}
      <PagedTable
        of={types}
        caption='Event types'
        path='/event-types'
        head={['Type', 'Description', 'Schema', 'Changed']}
        row={(one) => (
          <tr key={one.type}>
            <td>
              <Link to={`/event-types/${one.type}`} row class='strong'>
                <Foreign text={one.type} />
              </Link>
            </td>
            <td>
              <Foreign text={one.description} />
            </td>
            <td>{one.schema === null ? <span class='quiet'>none</span> : 'yes'}</td>
            <td class='nowrap'>
              <Time at={one.updatedAt} />
            </td>
          </tr>
        )}
        empty={
          <Empty title='No event type is described yet'>
            <p>
              Describe one by <code>POST /event-types</code>{' '}
              or in SQL. Customers see it in the portal.
            </p>
          </Empty>
        }
      />
    </>
  )
}

/** One event type: its schema, an example, its events, and its history. */
export function EventTypePage({ id }: { id: string }): JSX.Element {
  const type = useLive(
    ['event-type', id],
    (signal) => api.getEventType({ path: { type: id }, signal }),
    { every: false },
  )
  if (type.isError && [400, 404].includes(asFailure(type.error).status)) {
    return (
      <Empty isPage title='There is no such event type'>
        <p>
          <Link to='/event-types'>All event types</Link>
        </p>
      </Empty>
    )
  }
  return (
    <Read of={type}>
      {(one) => (
        <>
          <nav class='trail' aria-label='Trail'>
            <Link to='/event-types'>Event types</Link>
          </nav>
          <div class='page-head'>
            <h1>
              <Foreign text={one.type} />
            </h1>
            <CopyCommands path={`/event-types/${encodeURIComponent(one.type)}`} />
          </div>
          <div class='stack'>
            {one.description !== '' && (
              <p>
                <Foreign text={one.description} />
              </p>
            )}
            <div class='row'>
              <Link to={`/events?by=type&q=${encodeURIComponent(one.type)}`} class='button'>
                Events
              </Link>
            </div>
            {one.schema === null
              ? <p class='quiet'>Its payload is not described.</p>
              : (
                <div class='columns'>
                  <JsonView text={JSON.stringify(exampleOf(one.schema))} name='Example' />
                  <JsonView text={JSON.stringify(one.schema)} name='Schema' />
                </div>
              )}
            {may('audit:read') && <TypeHistory type={one.type} />}
          </div>
        </>
      )}
    </Read>
  )
}
