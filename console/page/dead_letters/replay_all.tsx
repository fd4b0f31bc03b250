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

type Preview = Output<'previewReplayJob'>

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
      {isOpen && <Plan selection={selection} onClose={() => setOpen(false)} />}
    </>
  )
}

function Plan({ selection, onClose }: { selection: Selection; onClose(): void }): JSX.Element {
  // Fixed when the dialog opens: what comes later is not replayed.
  const [filter] = useState(() => {
    const failedFrom = spanStart(selection.spanName)
    return {
      ...selection.endpointId === null ? {} : { endpointId: selection.endpointId },
      ...selection.eventType === null ? {} : { eventType: selection.eventType },
      ...failedFrom === undefined ? {} : { failedFrom },
    }
  })
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
  filter: { endpointId?: string; eventType?: string; failedFrom?: string }
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
