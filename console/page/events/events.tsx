/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { asFailure } from '../app/api.ts'
import { setQuery, usePlace } from '../app/location.ts'
import { may } from '../app/session.ts'
import { Choice, TextFilter } from '../parts/filters.tsx'
import { later } from '../parts/later.tsx'
import { Link } from '../parts/link.tsx'
import { PagedTable, usePages } from '../parts/pages.tsx'
import { SpanFilter, useSpan } from '../parts/span.tsx'
import { Empty } from '../parts/state.tsx'
import { Foreign, Id, Time } from '../parts/value.tsx'
import { Snippet } from '../overview/first_endpoint.tsx'
import { Deliveries } from './deliveries.tsx'
import { findEvents, searchPath } from './search.ts'
import { searchKinds, searchProblem } from './search_text.ts'

const Attempts = later(async () => (await import('./attempts.tsx')).Attempts)

/** The events, their deliveries with the status of each, or the attempts. */
export function EventsPage(): JSX.Element {
  const view = usePlace().query.get('view')
  const show = (view: string | null) => (): void =>
    setQuery({ view, by: null, q: null, status: null, endpoint: null, due: null, outcome: null })
  return (
    <>
      <div class='page-head'>
        <h1>Events</h1>
        <div class='segments' role='group' aria-label='What the list shows'>
          <button
            type='button'
            aria-pressed={view !== 'deliveries' && view !== 'attempts'}
            onClick={show(null)}
          >
            Events
          </button>
          {may('deliveries:read') && (
            <>
              <button
                type='button'
                aria-pressed={view === 'deliveries'}
                onClick={show('deliveries')}
              >
                Deliveries
              </button>
              <button type='button' aria-pressed={view === 'attempts'} onClick={show('attempts')}>
                Attempts
              </button>
            </>
          )}
        </div>
      </div>
      {view === 'deliveries' ? <Deliveries /> : view === 'attempts' ? <Attempts /> : <EventList />}
    </>
  )
}

const hints: Readonly<Record<string, string>> = {
  '': 'order.paid, an id or a key',
  type: 'order.paid',
}

function EventList(): JSX.Element {
  const { query } = usePlace()
  const by = query.get('by')
  const kind = searchKinds.find(([name]) => name === by)?.[0] ?? ''
  const text = query.get('q') ?? ''
  const span = useSpan()
  const hasSpan = ['', 'type', 'partition'].includes(kind)
  const problem = searchProblem(kind, text) ?? (hasSpan ? span.problem : null)
  const events = usePages(
    ['events', kind, text, span.key],
    (cursor, signal) => findEvents({ kind, text, span: span.now(), cursor, signal }),
    problem === null,
  )
  const isMissing = events.isError && asFailure(events.error).status === 404
  return (
    <>
      <div class='filters' role='search'>
        <Choice name='by' label='Search by' choices={searchKinds} />
        <TextFilter name='q' label='Search' hint={hints[kind] ?? ''} search />
        {hasSpan && <SpanFilter label='Published' />}
      </div>
      {problem !== null && <p class='hint' role='status'>{problem}</p>}
      {problem === null && isMissing && <NothingFound />}
      {problem === null && !isMissing && (
        <PagedTable
          of={events}
          caption='Events'
          path={searchPath({ kind, text, span: span.now() })}
          head={['Published', 'Type', 'Event', 'Correlation id', 'Partition key']}
          row={(event) => (
            <tr key={event.id}>
              <td class='nowrap'>
                <Time at={event.createdAt} />
              </td>
              <td>
                <Link to={`/events/${event.id}`} row class='strong'>
                  <Foreign text={event.type} />
                </Link>
              </td>
              <td>
                <Id id={event.id} />
              </td>
              <td>{event.correlationId !== null && <Foreign text={event.correlationId} mono />}</td>
              <td>{event.partitionKey !== null && <Foreign text={event.partitionKey} mono />}</td>
            </tr>
          )}
          empty={text === '' && !span.isSet ? <FirstEvent /> : <NothingFound />}
        />
      )}
    </>
  )
}

function NothingFound(): JSX.Element {
  return (
    <Empty title='Nothing was found'>
      <p>
        The search reads what is stored of this organisation: an event is stored for 7 days after
        its delivery. Older ones may still be among the{' '}
        <Link to='/dead-letters'>dead letters</Link>.
      </p>
    </Empty>
  )
}

function FirstEvent(): JSX.Element {
  return (
    <Empty title='No event was published yet'>
      <p>Publish one in the transaction that makes the change:</p>
      <Snippet text={`select outbox.publish('order.paid', '{"id": 1}');`} />
    </Empty>
  )
}
