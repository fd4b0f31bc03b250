/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { listPath } from '../app/list_path.ts'
import { setQuery, usePlace } from '../app/location.ts'
import { Choice, TextFilter } from '../parts/filters.tsx'
import { Link } from '../parts/link.tsx'
import { PagedTable, usePages } from '../parts/pages.tsx'
import { SpanFilter, useSpan } from '../parts/span.tsx'
import { Empty } from '../parts/state.tsx'
import { DeliveryBadge, deliveryStatuses } from '../parts/status.tsx'
import { Ago, EndpointName, Foreign, Time } from '../parts/value.tsx'
import { deliveryPath } from './delivery_path.ts'
import { searchProblem } from './search_text.ts'

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

/** The deliveries of the organisation by status, type and time. */
export function Deliveries(): JSX.Element {
  const { query } = usePlace()
  const status = query.get('status')
  const endpointId = query.get('endpoint')
  const eventType = query.get('q')
  const span = useSpan()
  const isDueSoon = query.get('due') === 'hour'
  const problem = searchProblem('type', eventType ?? '') ?? span.problem
  const filters = () => ({
    // SAFETY: the API refuses another status, and the page shows its error.
    ...status === null ? {} : { status: status as Delivery['status'] },
    ...isDueSoon ? nextHour() : {},
    ...endpointId === null ? {} : { endpointId },
    ...eventType === null ? {} : { eventType },
    ...span.now(),
  })
  const deliveries = usePages(
    ['deliveries', status, endpointId, eventType, span.key, isDueSoon ? 'hour' : null],
    (cursor, signal) =>
      api.listDeliveries({
        query: { ...filters(), ...cursor === null ? {} : { cursor } },
        signal,
      }),
    problem === null,
  )
  return (
    <>
      <div class='filters' role='search'>
        <TextFilter name='q' label='Event type' hint='order.paid' search />
        <Choice name='status' label='Status' choices={statusChoices} />
        <SpanFilter label='Published' />
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
          path={listPath('/deliveries', filters())}
          head={['Published', 'Type', 'Endpoint', 'Status', 'Attempts', 'Next attempt']}
          row={(one) => (
            <tr key={one.id}>
              <td class='nowrap'>
                <Time at={one.createdAt} />
              </td>
              <td>
                <Link to={deliveryPath(one.eventId, one.id)} row class='strong'>
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
