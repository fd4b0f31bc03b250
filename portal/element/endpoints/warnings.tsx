/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { visible } from '../../../console/page/app/format.ts'
import type { Input, Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { everyMs, useNow, useRead } from '../app/data.ts'
import { Go } from '../parts/go.tsx'
import { addressOf, Foreign } from '../parts/value.tsx'
import { rowsWithStats, useEndpoints } from './endpoints.tsx'
import { useStats } from './stats.ts'

type Endpoint = Output<'getEndpoint'>
type Query = NonNullable<Input<'listEndpoints'>['query']>

/** For how long each attempt must have failed; a short outage is retried without anybody's help. */
const longMs = 3_600_000

/** A banner for each endpoint that is disabled, or whose attempts have failed for a long time. */
export function Warnings(): JSX.Element | null {
  return usePortal().can('endpoints:read') ? <All /> : null
}

function All(): JSX.Element {
  const { session } = usePortal()
  // A token with limits lists its endpoints without a filter.
  return session.endpointIds === null && session.eventTypes === null ? <OfAll /> : <OfFirst />
}

/** Those that are disabled or failing, of however many endpoints; the latter as seldom as the statistics. */
function OfAll(): JSX.Element {
  const disabled = useThose('disabled', { status: 'disabled' }, everyMs.list)
  const failing = useThose('failing', { status: 'enabled', health: 'failing' }, everyMs.slow)
  return <Banners disabled={disabled} failing={failing} />
}

function useThose(name: string, query: Query, every: number): Endpoint[] {
  const { client } = usePortal()
  const { data } = useRead(
    ['endpoints', 'warned', name],
    (signal) => client.listEndpoints({ query, signal }),
    { every },
  )
  return data?.data ?? []
}

/** Those of the first endpoints. */
function OfFirst(): JSX.Element {
  const { data = [] } = useEndpoints()
  return (
    <Banners
      disabled={data.filter(({ status }) => status === 'disabled')}
      failing={data.slice(0, rowsWithStats).filter(({ status }) => status === 'enabled')}
    />
  )
}

/** `failing`: those that may have failed for long. */
function Banners({ disabled, failing }: {
  disabled: Endpoint[]
  failing: Endpoint[]
}): JSX.Element {
  return (
    <>
      {disabled.map((one) => <Disabled key={one.id} endpoint={one} />)}
      {/* Each statistic is a request: as many as the list shows. */}
      {failing.slice(0, rowsWithStats).map((one) => <Failing key={one.id} endpoint={one} />)}
    </>
  )
}

function Disabled({ endpoint }: { endpoint: Endpoint }): JSX.Element {
  const { words: { t } } = usePortal()
  return (
    <div class='warning bad' role='status' part='banner'>
      <p>
        <strong>{t('isDisabled')}</strong>{' '}
        {endpoint.statusReason !== null && `${visible(endpoint.statusReason)}. `}
        {t('isDisabledHint')}
      </p>
      <Named endpoint={endpoint} />
    </div>
  )
}

function Failing({ endpoint }: { endpoint: Endpoint }): JSX.Element | null {
  const { words: { t, span } } = usePortal()
  const now = useNow()
  const { data } = useStats(endpoint.id)
  if (data === undefined || data.failingSince === null) return null
  const ms = now - Date.parse(data.failingSince)
  if (ms < longMs) return null
  return (
    <div class='warning bad' role='status' part='banner'>
      <p>
        <strong>{t('failsLong', { span: span(ms) })}</strong> {t('failsLongHint')}
      </p>
      <Named endpoint={endpoint} />
    </div>
  )
}

function Named({ endpoint }: { endpoint: Endpoint }): JSX.Element {
  return (
    <Go to={`endpoints/${endpoint.id}`}>
      <Foreign text={addressOf(endpoint)} />
    </Go>
  )
}
