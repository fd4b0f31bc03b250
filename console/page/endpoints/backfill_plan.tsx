/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { api } from '../app/api.ts'
import { count, number, span } from '../app/format.ts'
import { navigate } from '../app/location.ts'
import { newKey } from '../app/new_key.ts'
import { Confirm } from '../parts/action.tsx'
import { Time } from '../parts/value.tsx'
import type { Preview, Selection } from './backfill.tsx'

/** From this number on, the number must be typed, as for a replay. */
const typedFrom = 100

/** How many events a backfill would send, and its start. */
export function BackfillPlan({ endpointId, selection, preview, onClose }: {
  endpointId: string
  selection: Selection
  preview: Preview
  onClose(): void
}): JSX.Element {
  const [rate, setRate] = useState('50')
  // One key for all clicks with the same rate, so that a repeat after a lost response starts one job.
  const idempotencyKey = useMemo(newKey, [rate])
  const { total, capped, read, readUntil, until } = preview
  const ratePerSecond = Number(rate)
  const isRate = /^\d+$/.test(rate) && ratePerSecond >= 1 && ratePerSecond <= 1000
  const what = !capped
    ? count(total, 'earlier event')
    : total === 0
    ? 'earlier events that are not counted'
    : `${number(total)} or more earlier events`
  const start = async (): Promise<void> => {
    const job = await api.createBackfill({
      path: { endpointId },
      body: { ...selection, until, ratePerSecond },
      idempotencyKey,
    })
    navigate(`/replays/${job.id}`)
  }
  return (
    <Confirm
      title={`Send ${what}?`}
      label='Start the job'
      isReady={isRate}
      typed={capped ? 'all' : total >= typedFrom ? String(total) : undefined}
      act={start}
      onClose={onClose}
    >
      <p>
        Each is sent to this endpoint under its own id, the oldest first, with all its retries.
        Events that were published after <Time at={until} />{' '}
        are not part of it. The job runs in the database: you may close this page, and you can
        cancel the job.
      </p>
      {capped && (
        <p>
          <strong>There may be more.</strong>{' '}
          {`The oldest ${count(read, 'event')} of the span were read`}
          {readUntil !== null && (
            <>
              , up to <Time at={readUntil} />
            </>
          )}
          . The job also sends later ones that match.
        </p>
      )}
      <label class='field'>
        Events a second, from 1 to 1,000
        <input
          value={rate}
          inputMode='numeric'
          aria-invalid={!isRate}
          onInput={(event) => setRate(event.currentTarget.value)}
        />
      </label>
      {isRate && total > 0 && (
        <p class='quiet'>
          It takes {capped ? 'at least' : 'about'} {span((total / ratePerSecond) * 1000)}.
        </p>
      )}
    </Confirm>
  )
}
