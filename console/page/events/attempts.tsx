/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { span, visible } from '../app/format.ts'
import { listPath } from '../app/list_path.ts'
import { setQuery, usePlace } from '../app/location.ts'
import { Choice } from '../parts/filters.tsx'
import { Link } from '../parts/link.tsx'
import { PagedTable, usePages } from '../parts/pages.tsx'
import { SpanFilter, useSpan } from '../parts/span.tsx'
import { Empty } from '../parts/state.tsx'
import { Badge, EndpointName, Foreign, Time } from '../parts/value.tsx'
import { deliveryPath } from './delivery_path.ts'

type Attempt = Output<'listAllAttempts'>['data'][number]

const outcomes = [
  ['', 'Any outcome'],
  ['delivered', 'Delivered'],
  ['failed', 'Failed'],
] as const

/** The attempts at all endpoints, as the overview counts them. */
export function Attempts(): JSX.Element {
  const { query } = usePlace()
  const outcome = query.get('outcome')
  const endpointId = query.get('endpoint')
  const chosen = useSpan()
  const since = timeOf(query.get('since'))
  const filters = () => ({
    // SAFETY: the API refuses another outcome, and the page shows its error.
    ...outcome === null ? {} : { outcome: outcome as Attempt['outcome'] },
    ...endpointId === null ? {} : { endpointId },
    ...chosen.now(),
    ...since === null ? {} : { from: since },
  })
  const attempts = usePages(
    ['all-attempts', outcome, endpointId, chosen.key, since],
    (cursor, signal) =>
      api.listAllAttempts({
        query: { ...filters(), ...cursor === null ? {} : { cursor } },
        signal,
      }),
    chosen.problem === null,
  )
  return (
    <>
      <div class='filters' role='search'>
        <Choice name='outcome' label='Outcome' choices={outcomes} />
        <SpanFilter label='Attempted' />
      </div>
      {endpointId !== null && (
        <p class='chip'>
          Only to <EndpointName id={endpointId} />
          <button type='button' class='plain' onClick={() => setQuery({ endpoint: null })}>
            Show all endpoints
          </button>
        </p>
      )}
      {since !== null && (
        <p class='chip'>
          Only since <Time at={since} />
          <button type='button' class='plain' onClick={() => setQuery({ since: null })}>
            Show older ones
          </button>
        </p>
      )}
      {chosen.problem !== null ? <p class='hint' role='status'>{chosen.problem}</p> : (
        <PagedTable
          of={attempts}
          caption='Attempts'
          path={listPath('/attempts', filters())}
          head={['At', 'Type', 'Endpoint', 'Outcome', 'Error', 'Took', 'Since the event']}
          row={(one) => <Row key={`${one.deliveryId} ${one.attempt}`} attempt={one} />}
          empty={
            <Empty title='No attempt matches'>
              <p>Choose another outcome or a longer time.</p>
            </Empty>
          }
        />
      )}
    </>
  )
}

/** A time of the address; null if it is none. */
function timeOf(text: string | null): string | null {
  return text === null || Number.isNaN(Date.parse(text)) ? null : text
}

function Row({ attempt }: { attempt: Attempt }): JSX.Element {
  const isGood = attempt.outcome === 'delivered'
  return (
    <tr>
      <td class='nowrap'>
        <Time at={attempt.at} />
      </td>
      <td>
        <Link to={deliveryPath(attempt.eventId, attempt.deliveryId)} row class='strong'>
          {attempt.eventType === null ? 'Event' : <Foreign text={attempt.eventType} />}
        </Link>
      </td>
      <td>
        <EndpointName id={attempt.endpointId} />
      </td>
      <td class='nowrap'>
        <Badge tone={isGood ? 'good' : 'bad'}>
          {attempt.status === null ? attempt.outcome : `HTTP ${attempt.status}`}
        </Badge>
        <span class='quiet'>attempt {attempt.attempt}</span>
      </td>
      <td>
        {attempt.error !== null
          ? <Foreign text={attempt.error} />
          : attempt.errorClass !== null && visible(attempt.errorClass)}
      </td>
      <td class='num nowrap'>{attempt.durationMs !== null && span(attempt.durationMs)}</td>
      <td class='num nowrap'>{span(attempt.sinceEventMs)}</td>
    </tr>
  )
}
