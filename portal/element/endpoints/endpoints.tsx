/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { everyMs } from '../app/data.ts'
import { type Pages, usePages } from '../app/pages.ts'
import { Go } from '../parts/go.tsx'
import { More } from '../parts/more.tsx'
import { Read } from '../parts/state.tsx'
import { addressOf, EndpointBadge, Foreign } from '../parts/value.tsx'
import { EndpointSearch } from './endpoint_search.tsx'
import { useStats } from './stats.ts'

type Endpoint = Output<'getEndpoint'>

/** The endpoints of the customer, read once for all that show them; or those that a search finds. */
export function useEndpoints(search = ''): Pages<Endpoint> {
  const { client } = usePortal()
  return usePages(
    search === '' ? ['endpoints'] : ['endpoints', search],
    (cursor, signal) =>
      client.listEndpoints({
        query: {
          ...cursor === null ? {} : { cursor },
          ...search === '' ? {} : { search },
        },
        signal,
      }),
    // Less often, because a search may read all endpoints.
    search === '' ? {} : { every: everyMs.slow },
  )
}

/** Whether the token may create endpoints: one that is limited to endpoints may not. */
export function useCanCreate(): boolean {
  const { can, session } = usePortal()
  return can('endpoints:write') && session.endpointIds === null
}

export function EndpointsView(): JSX.Element {
  const { session, words: { t } } = usePortal()
  const all = useEndpoints()
  const [search, setSearch] = useState('')
  const endpoints = useEndpoints(search)
  const canCreate = useCanCreate()
  // A token with limits lists its endpoints without a filter.
  const canSearch = session.endpointIds === null && session.eventTypes === null &&
    (search !== '' || all.hasMore || (all.data?.length ?? 0) > rowsWithoutSearch)
  return (
    <section aria-labelledby='endpoints-title'>
      <div class='head'>
        <h2 id='endpoints-title'>{t('endpoints')}</h2>
        {canCreate && <Go to='endpoints/new' class='button primary'>{t('addEndpoint')}</Go>}
      </div>
      {canSearch && <EndpointSearch onSearch={setSearch} />}
      <Read of={endpoints}>
        {(rows) =>
          rows.length === 0 && !endpoints.hasMore
            ? search === ''
              ? <FirstEndpoint canCreate={canCreate} />
              : <p class='empty' role='status'>{t('noEndpointFound')}</p>
            : (
              <>
                <div class='table-box'>
                  <table part='table'>
                    <caption class='hidden'>{t('endpoints')}</caption>
                    <thead>
                      <tr>
                        <th scope='col'>{t('endpoint')}</th>
                        <th scope='col'>{t('status')}</th>
                        <th scope='col' class='only-wide'>{t('eventTypes')}</th>
                        <th scope='col'>{t('lastDay')}</th>
                      </tr>
                    </thead>
                    <tbody>
                      {rows.map((one, i) => (
                        <Row key={one.id} endpoint={one} withStats={i < rowsWithStats} />
                      ))}
                    </tbody>
                  </table>
                </div>
                <More of={endpoints} n={rows.length} />
              </>
            )}
      </Read>
    </section>
  )
}

/** Up to this number of endpoints there is no search. */
const rowsWithoutSearch = 10

/** Each statistic is a request. */
export const rowsWithStats = 20

function FirstEndpoint({ canCreate }: { canCreate: boolean }): JSX.Element {
  const { words: { t } } = usePortal()
  return (
    <div class='empty'>
      <h3>{t('noEndpoints')}</h3>
      <p>{t(canCreate ? 'noEndpointsHint' : 'noEndpointsReadOnly')}</p>
      {canCreate && <Go to='endpoints/new' class='button'>{t('addFirstEndpoint')}</Go>}
    </div>
  )
}

function Row({ endpoint, withStats }: { endpoint: Endpoint; withStats: boolean }): JSX.Element {
  return (
    <tr>
      <td class='wide'>
        <Go to={`endpoints/${endpoint.id}`}>
          <Foreign text={addressOf(endpoint)} />
        </Go>
        {endpoint.description !== '' && (
          <div class='quiet'>
            <Foreign text={endpoint.description} />
          </div>
        )}
      </td>
      <td>
        <EndpointBadge endpoint={endpoint} />
      </td>
      <td class='only-wide'>
        <TypeList types={endpoint.eventTypes} />
      </td>
      <td class='nowrap'>{withStats ? <Day endpointId={endpoint.id} /> : null}</td>
    </tr>
  )
}

/** Some of the event types, and how many there are more. */
export function TypeList({ types, most = 3 }: { types: string[]; most?: number }): JSX.Element {
  const { words: { t } } = usePortal()
  const shown = types.slice(0, most)
  return (
    <>
      {shown.map((type) => (
        <code key={type} class='type'>
          {type === '*' ? t('allEvents') : <Foreign text={type} />}
        </code>
      ))}
      {types.length > shown.length && (
        <span class='quiet'>{t('andMore', { n: types.length - shown.length })}</span>
      )}
    </>
  )
}

function Day({ endpointId }: { endpointId: string }): JSX.Element | null {
  const { words: { n, t } } = usePortal()
  const { data } = useStats(endpointId)
  if (data === undefined) return null
  const { attempts: { delivered, failed } } = data
  if (delivered + failed === 0) return <span class='quiet'>{t('noAttempts')}</span>
  return (
    <>
      {t('deliveredN', { n: n(delivered) })}
      {failed > 0 && <span class='bad-text'>, {t('failedN', { n: n(failed) })}</span>}
    </>
  )
}
