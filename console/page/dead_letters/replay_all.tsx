/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { useLive } from '../app/data.ts'
import { count, number } from '../app/format.ts'
import { navigate } from '../app/location.ts'
import { newKey } from '../app/new_key.ts'
import { Confirm } from '../parts/action.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { RateField, useRate } from '../parts/rate.tsx'
import type { Span } from '../parts/span.tsx'
import { Read } from '../parts/state.tsx'
import { EndpointName, Foreign, Time } from '../parts/value.tsx'

interface Selection {
  endpointId: string | null
  eventType: string | null
  /** The first characters of the error, as a group has them. */
  error: string | null
  /** The span of failure, now. */
  span(): Span
}

/** What a job selects. The preview sets an end in time that is not given, or not over yet. */
interface Filter {
  endpointId?: string
  eventType?: string
  error?: string
  failedFrom?: string
  failedTo?: string
}

type Preview = Output<'previewReplayJob'>

/** Errors with the same first characters, so many, are one group. */
const groupedBy = 200

/** From this number on, the number must be typed. */
const typedFrom = 100

/** What must be typed; undefined if nothing. A number that is not known is never started by a click alone. */
function typedOf({ total, capped }: Preview): string | undefined {
  return capped ? 'all' : total >= typedFrom ? String(total) : undefined
}

/** Replays all that match, as a job: first the plan with the number, then the confirmation. */
export function ReplayAll(selection: Selection): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type='button' class='primary' data-main-action='' onClick={() => setOpen(true)}>
        Replay all that match …
      </button>
      {isOpen && <Plan filterNow={() => filterOf(selection)} onClose={() => setOpen(false)} />}
    </>
  )
}

/** Dead letters of an endpoint with the same error. */
export interface Group {
  endpointId: string
  /** Its first 200 characters. */
  error: string
  /** The time of the oldest one: the job does not look for older ones, which the group has not counted. */
  firstAt: string
}

/** Replays what failed in a span at an endpoint, in the same way. */
export function ReplaySpan({ endpointId, span, onClose }: {
  endpointId: string
  span: Span
  onClose(): void
}): JSX.Element {
  return (
    <Plan
      filterNow={() => filterOf({ endpointId, eventType: null, error: null, span: () => span })}
      onClose={onClose}
    />
  )
}

/** Replays a group in the same way. */
export function ReplayGroup({ endpointId, error, firstAt, onClose }: Group & {
  onClose(): void
}): JSX.Element {
  return <Plan filterNow={() => ({ endpointId, error, failedFrom: firstAt })} onClose={onClose} />
}

function filterOf({ endpointId, eventType, error, span }: Selection): Filter {
  const { from, to } = span()
  return {
    ...endpointId === null ? {} : { endpointId },
    ...eventType === null ? {} : { eventType },
    ...error === null ? {} : { error },
    ...from === undefined ? {} : { failedFrom: from },
    ...to === undefined ? {} : { failedTo: to },
  }
}

function Plan({ filterNow, onClose }: { filterNow(): Filter; onClose(): void }): JSX.Element {
  // Fixed when the dialog opens: what comes later is not replayed.
  const [filter] = useState(filterNow)
  const [openedAt] = useState(Date.now)
  const preview = useLive(
    ['replay-preview', openedAt],
    (signal) => api.previewReplayJob({ body: filter, signal }),
    { every: false },
  )
  const found = preview.data
  if (found === undefined || (found.total === 0 && !found.capped)) {
    return (
      <Dialog title='Replay dead letters' onClose={onClose}>
        <Read of={preview}>{() => <p>No open dead letter matches any more.</p>}</Read>
      </Dialog>
    )
  }
  return <Confirmation preview={found} filter={filter} onClose={onClose} />
}

function Confirmation({ preview, filter, onClose }: {
  preview: Preview
  filter: Filter
  onClose(): void
}): JSX.Element {
  const rate = useRate()
  // One key for all clicks with the same rate, so that a repeat after a lost response starts one job.
  const idempotencyKey = useMemo(newKey, [rate.text])
  const { total, capped } = preview
  const what = !capped
    ? count(total, 'dead letter')
    : total === 0
    ? 'dead letters that are not counted'
    : `${number(total)} or more dead letters`
  const start = async (): Promise<void> => {
    const job = await api.createReplayJob({
      body: { ...filter, failedTo: preview.failedTo, ratePerSecond: rate.perSecond },
      idempotencyKey,
    })
    navigate(`/replays/${job.id}`)
  }
  return (
    <Confirm
      title={`Replay ${what}?`}
      label='Start the job'
      isReady={rate.isValid}
      typed={typedOf(preview)}
      act={start}
      onClose={onClose}
    >
      <p>
        Each is sent to its endpoint again, with all its retries.{' '}
        {filter.failedFrom !== undefined && (
          <>
            Dead letters before <Time at={filter.failedFrom} />, and those after{' '}
          </>
        )}
        {filter.failedFrom === undefined && 'Dead letters that come after '}
        <Time at={preview.failedTo} />{' '}
        are not part of it. The job runs in the database: you may close this page, and you can
        cancel the job.
      </p>
      {filter.error !== undefined && (
        <p>
          Only those{' '}
          {[...filter.error].length < groupedBy ? 'with the error' : 'whose error begins with'}{' '}
          “<Foreign text={filter.error} />”.
        </p>
      )}
      {capped && (
        <p>
          <strong>There may be more.</strong>{' '}
          {`The newest 20,000 dead letters were read, and ${
            total === 0 ? 'none' : number(total)
          } of ` +
            `them ${total === 1 ? 'matches' : 'match'}. `}
          The job also replays older ones that match.
        </p>
      )}
      {total > 0 && (
        <ul class='sample'>
          {preview.sample.map((letter) => (
            <li key={letter.id}>
              <Foreign text={letter.eventType} /> to <EndpointName id={letter.endpointId} />
            </li>
          ))}
          {total > preview.sample.length && (
            <li class='quiet'>and {number(total - preview.sample.length)} more</li>
          )}
        </ul>
      )}
      <RateField label='Replays' rate={rate} total={total} more={capped} />
    </Confirm>
  )
}
