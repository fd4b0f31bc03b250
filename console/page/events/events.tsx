/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { api, asFailure } from '../app/api.ts'
import { setQuery, usePlace } from '../app/location.ts'
import { may } from '../app/session.ts'
import { Choice, spanChoices, spanStart, TextFilter } from '../parts/filters.tsx'
import { later } from '../parts/later.tsx'
import { Link } from '../parts/link.tsx'
import { PagedTable, usePages } from '../parts/pages.tsx'
import { Empty } from '../parts/state.tsx'
import { DeliveryBadge, deliveryStatuses } from '../parts/status.tsx'
import { Ago, EndpointName, Foreign, Id, Time } from '../parts/value.tsx'
import { Snippet } from '../overview/first_endpoint.tsx'
import { findEvents } from './search.ts'
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
  const spanName = query.get('span')
  const problem = searchProblem(kind, text)
  const hasSpan = ['', 'type', 'partition'].includes(kind)
  const events = usePages(
    ['events', kind, text, spanName],
    (cursor, signal) => findEvents({ kind, text, from: spanStart(spanName), cursor, signal }),
    problem === null,
  )
  const isMissing = events.isError && asFailure(events.error).status === 404
  return (
    <>
      <div class='filters' role='search'>
        <Choice name='by' label='Search by' choices={searchKinds} />
        <TextFilter name='q' label='Search' hint={hints[kind] ?? ''} search />
        {hasSpan && <Choice name='span' label='Published' choices={spanChoices} />}
      </div>
      {problem !== null && <p class='hint' role='status'>{problem}</p>}
      {problem === null && isMissing && <NothingFound />}
      {problem === null && !isMissing && (
        <PagedTable
          of={events}
          caption='Events'
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
          empty={text === '' && spanName === null ? <FirstEvent /> : <NothingFound />}
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

type Delivery = Output<'getDelivery'>

const statusChoices = [
  ['', 'Any status'],
  ['open', 'open: not finished'],
  ...deliveryStatuses.map((status) => [status, status.replace('_', ' ')] as const),
] as const

/** The bounds of the next attempt, as the overview counts retries. */
function nextHour(): { dueFrom: string; dueTo: string } {
  const now = Date.now()
  return {
    dueFrom: new Date(now).toISOString(),
    dueTo: new Date(now + 3_600_000).toISOString(),
  }
}

function Deliveries(): JSX.Element {
  const { query } = usePlace()
  const status = query.get('status')
  const endpointId = query.get('endpoint')
  const eventType = query.get('q')
  const spanName = query.get('span')
  const isDueSoon = query.get('due') === 'hour'
  const problem = searchProblem('type', eventType ?? '')
  const deliveries = usePages(
    ['deliveries', status, endpointId, eventType, spanName, isDueSoon ? 'hour' : null],
    (cursor, signal) => {
      const from = spanStart(spanName)
      return api.listDeliveries({
        query: {
          // SAFETY: the API refuses another status, and the page shows its error.
          ...status === null ? {} : { status: status as Delivery['status'] },
          ...isDueSoon ? nextHour() : {},
          ...endpointId === null ? {} : { endpointId },
          ...eventType === null ? {} : { eventType },
          ...from === undefined ? {} : { from },
          ...cursor === null ? {} : { cursor },
        },
        signal,
      })
    },
    problem === null,
  )
  return (
    <>
      <div class='filters' role='search'>
        <TextFilter name='q' label='Event type' hint='order.paid' search />
        <Choice name='status' label='Status' choices={statusChoices} />
        <Choice name='span' label='Published' choices={spanChoices} />
      </div>
      {endpointId !== null && (
        <p class='chip'>
          Only to <EndpointName id={endpointId} />
          <button type='button' class='plain' onClick={() => setQuery({ endpoint: null })}>
            Show all endpoints
          </button>
        </p>
      )}
      {isDueSoon && (
        <p class='chip'>
          Only those whose next attempt is within an hour
          <button type='button' class='plain' onClick={() => setQuery({ due: null })}>
            Show all times
          </button>
        </p>
      )}
      {problem !== null ? <p class='hint' role='status'>{problem}</p> : (
        <PagedTable
          of={deliveries}
          caption='Deliveries'
          head={['Published', 'Type', 'Endpoint', 'Status', 'Attempts', 'Next attempt']}
          row={(one) => (
            <tr key={one.id}>
              <td class='nowrap'>
                <Time at={one.createdAt} />
              </td>
              <td>
                <Link to={`/events/${one.eventId}`} row class='strong'>
                  <Foreign text={one.eventType} />
                </Link>
              </td>
              <td>
                <EndpointName id={one.endpointId} />
              </td>
              <td>
                <DeliveryBadge status={one.status} />
              </td>
              <td class='num'>{one.attempt}</td>
              <td class='nowrap'>{one.nextAttemptAt !== null && <Ago at={one.nextAttemptAt} />}</td>
            </tr>
          )}
          empty={
            <Empty title='No delivery matches'>
              <p>Choose another status or a longer time.</p>
            </Empty>
          }
        />
      )}
    </>
  )
}
