/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { useLive } from '../app/data.ts'
import { number } from '../app/format.ts'
import { listPath } from '../app/list_path.ts'
import { usePlace } from '../app/location.ts'
import { may } from '../app/session.ts'
import { FirstEndpoint } from '../overview/first_endpoint.tsx'
import { Choice, TextFilter } from '../parts/filters.tsx'
import { Link } from '../parts/link.tsx'
import { PagedTable, usePages } from '../parts/pages.tsx'
import { Empty } from '../parts/state.tsx'
import { EndpointBadge } from '../parts/status.tsx'
import { Foreign, Time } from '../parts/value.tsx'
import { Attempted, NoEndpoint, OldestDue, Since, Types } from './endpoint_cells.tsx'
import { NewEndpointButton } from './new_endpoint_button.tsx'

type Endpoint = Output<'getEndpoint'>
type Overview = Output<'getOverview'>

const choices = [
  ['', 'All'],
  ['failing', 'Failing'],
  ['breaker_open', 'Breaker open'],
  ['held', 'Held: paused or disabled'],
  ['enabled', 'Enabled'],
  ['paused', 'Paused'],
  ['disabled', 'Disabled'],
] as const

/** So many endpoints are in an overview at most. */
const mostBusy = 100

/** The endpoints with their health. */
export function EndpointsPage(): JSX.Element {
  const { query } = usePlace()
  const show = query.get('show') ?? ''
  const overview = useLive(
    ['overview', 1440],
    (signal) => api.getOverview({ query: { minutes: 1440 }, signal }),
    { keep: true, enabled: may('deliveries:read') },
  )
  return (
    <>
      <div class='page-head'>
        <h1>Endpoints</h1>
        <NewEndpointButton />
      </div>
      <div class='filters' role='search'>
        <TextFilter
          name='q'
          label='Search'
          hint='a part of the URL or the description'
          search
          most={200}
        />
        <Choice name='show' label='Show' choices={choices} />
      </div>
      <All show={show} search={query.get('q')} overview={overview.data} />
    </>
  )
}

function All({ show, search, overview }: {
  show: string
  search: string | null
  /** Absent until it was read, or if the session may not. */
  overview: Overview | undefined
}): JSX.Element {
  const work = new Map(overview?.busiest.map((one) => [one.endpointId, one]))
  // Whether an endpoint that is not in the overview has no work.
  const isAll = overview !== undefined && overview.busiest.length < mostBusy
  const attempts = overview?.attempts
  const isFailing = show === 'failing' || show === 'breaker_open'
  const filters = {
    ...show === '' ? {} : isHealth(show)
      ? { health: show }
      // SAFETY: the API refuses another status, and the page shows its error.
      : { status: show as Endpoint['status'] },
    ...search === null ? {} : { search },
  }
  const endpoints = usePages(['endpoints', show, search], (cursor, signal) =>
    api.listEndpoints({
      query: { ...filters, ...cursor === null ? {} : { cursor } },
      signal,
    }))
  return (
    <>
      {attempts?.capped === true && (
        <p class='quiet'>
          The attempts are counted from <Time at={attempts.since} /> on: at most 10,000 of a day.
        </p>
      )}
      <PagedTable
        of={endpoints}
        caption='Endpoints'
        path={listPath('/endpoints', filters)}
        head={[
          'Endpoint',
          'Status',
          isFailing ? 'Failing since' : 'Event types',
          'Attempts of a day',
          'In flight',
          'Backlog',
        ]}
        row={(one) => {
          const busy = work.get(one.id)
          return (
            <tr key={one.id}>
              <td>
                <Link to={`/endpoints/${one.id}`} row class='strong endpoint-name' title={one.url}>
                  <Foreign text={one.url === '' ? one.kind : one.url} />
                </Link>
                {one.description !== '' && (
                  <div class='quiet'>
                    <Foreign text={one.description} />
                  </div>
                )}
              </td>
              <td>
                <EndpointBadge status={one.status} breaker={one.breaker.status} />
              </td>
              <td>
                {isFailing ? <Since busy={busy} /> : <Types types={one.eventTypes} />}
              </td>
              <td>
                {busy === undefined
                  ? overview !== undefined &&
                    <span class='quiet'>{isAll ? 'no attempt' : 'not among the 100 counted'}</span>
                  : <Attempted busy={busy} overview={overview} />}
              </td>
              <td class='num'>{busy === undefined && !isAll ? '' : number(busy?.inFlight ?? 0)}</td>
              <td class='num'>
                {busy === undefined && !isAll ? '' : number(busy?.open ?? 0)}
                {busy !== undefined && <OldestDue at={busy.oldestDueAt} />}
              </td>
            </tr>
          )
        }}
        empty={search !== null
          ? <Empty title='No endpoint was found' />
          : show === ''
          ? <FirstEndpoint />
          : <NoEndpoint show={show} />}
      />
    </>
  )
}

function isHealth(show: string): show is 'failing' | 'breaker_open' | 'held' {
  return ['failing', 'breaker_open', 'held'].includes(show)
}
