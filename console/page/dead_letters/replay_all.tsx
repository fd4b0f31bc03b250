/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { useLive } from '../app/data.ts'
import { count, number, span } from '../app/format.ts'
import { navigate } from '../app/location.ts'
import { Confirm } from '../parts/action.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { spanStart } from '../parts/filters.tsx'
import { Read } from '../parts/state.tsx'
import { EndpointName, Foreign, Time } from '../parts/value.tsx'

interface Selection {
  endpointId: string | null
  eventType: string | null
  spanName: string | null
}

/** What a job selects, without its end in time, which the preview sets. */
interface Filter {
  endpointId?: string
  eventType?: string
  error?: string
  failedFrom?: string
}

type Preview = Output<'previewReplayJob'>

/** Errors with the same first characters, so many, are one group. */
const groupedBy = 200

/** From this number on, the number must be typed. */
const typedFrom = 100

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

/** Replays a group in the same way. */
export function ReplayGroup({ endpointId, error, firstAt, onClose }: Group & {
  onClose(): void
}): JSX.Element {
  return <Plan filterNow={() => ({ endpointId, error, failedFrom: firstAt })} onClose={onClose} />
}

function filterOf({ endpointId, eventType, spanName }: Selection): Filter {
  const failedFrom = spanStart(spanName)
  return {
    ...endpointId === null ? {} : { endpointId },
    ...eventType === null ? {} : { eventType },
    ...failedFrom === undefined ? {} : { failedFrom },
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
  if (preview.data === undefined || preview.data.total === 0) {
    return (
      <Dialog title='Replay dead letters' onClose={onClose}>
        <Read of={preview}>{() => <p>No open dead letter matches any more.</p>}</Read>
      </Dialog>
    )
  }
  return <Confirmation preview={preview.data} filter={filter} onClose={onClose} />
}

function Confirmation({ preview, filter, onClose }: {
  preview: Preview
  filter: Filter
  onClose(): void
}): JSX.Element {
  const [rate, setRate] = useState('50')
  const [typed, setTyped] = useState('')
  const { total, capped } = preview
  const ratePerSecond = Number(rate)
  const isRate = /^\d+$/.test(rate) && ratePerSecond >= 1 && ratePerSecond <= 1000
  const isConfirmed = total < typedFrom || typed === String(total)
  const number_ = capped ? `${number(total)} or more dead letters` : count(total, 'dead letter')
  const start = async (): Promise<void> => {
    const job = await api.createReplayJob({
      body: { ...filter, failedTo: preview.failedTo, ratePerSecond },
    })
    navigate(`/replays/${job.id}${capped ? '' : `?of=${total}`}`)
  }
  return (
    <Confirm
      title={`Replay ${number_}?`}
      label='Start the job'
      isReady={isRate && isConfirmed}
      act={start}
      onClose={onClose}
    >
      <p>
        Each is sent to its endpoint again, with all its retries. Dead letters that come after{' '}
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
      <label class='field'>
        Replays a second, from 1 to 1,000
        <input
          value={rate}
          inputMode='numeric'
          aria-invalid={!isRate}
          onInput={(event) => setRate(event.currentTarget.value)}
        />
      </label>
      {isRate && <p class='quiet'>It takes about {span((total / ratePerSecond) * 1000)}.</p>}
      {total >= typedFrom && (
        <label class='field'>
          Type {total} to confirm
          <input
            value={typed}
            inputMode='numeric'
            autocomplete='off'
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
      )}
    </Confirm>
  )
}
