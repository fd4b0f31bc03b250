/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { count, pace } from '../app/format.ts'
import { Empty } from '../parts/state.tsx'
import { Ago, Foreign } from '../parts/value.tsx'
import { Sparkline } from './sparkline.tsx'

type Overview = Output<'getOverview'>
type Busy = Overview['busiest'][number]

/** The attempts of a day with their rate; if not all are counted, in the time that is complete. */
export function Attempted({ busy, overview }: {
  busy: Busy
  overview: Overview | undefined
}): JSX.Element {
  const total = busy.delivered + busy.failed
  const seconds = overview === undefined
    ? 0
    : (Date.parse(overview.time) - Date.parse(overview.attempts.since)) / 1000
  return (
    <>
      <Sparkline of={busy} />
      {total > 0 && seconds > 0 && <div class='quiet'>{pace(total, seconds)}</div>}
    </>
  )
}

/** Since when the oldest due work has waited. */
export function OldestDue({ at }: { at: string | null }): JSX.Element | null {
  if (at === null) return null
  return (
    <div class='quiet nowrap'>
      oldest due <Ago at={at} />
    </div>
  )
}

/** Since when an endpoint fails; only the 100 worst are in the overview. */
export function Since({ busy }: { busy: Busy | undefined }): JSX.Element | null {
  if (busy === undefined || busy.failingSince === null) return null
  return (
    <>
      <Ago at={busy.failingSince} />{' '}
      <span class='quiet'>{count(busy.failuresRunning, 'failure')} in a row</span>
    </>
  )
}

/** The empty list of a filter. */
export function NoEndpoint({ show }: { show: string }): JSX.Element {
  if (show === 'failing') {
    return (
      <Empty title='No endpoint is failing'>
        <p>The last attempt at each endpoint was delivered.</p>
      </Empty>
    )
  }
  if (show === 'breaker_open') {
    return (
      <Empty title='No breaker is open'>
        <p>A breaker opens after several failures in a row, and then holds the deliveries.</p>
      </Empty>
    )
  }
  return <Empty title={`No endpoint is ${show}`} />
}

/** The first event types of an endpoint. */
export function Types({ types }: { types: string[] }): JSX.Element {
  const shown = types.slice(0, 3)
  return (
    <>
      {shown.map((type) => (
        <code key={type} class='type'>
          <Foreign text={type} />
        </code>
      ))}
      {types.length > shown.length && (
        <span class='quiet'>and {types.length - shown.length} more</span>
      )}
    </>
  )
}
