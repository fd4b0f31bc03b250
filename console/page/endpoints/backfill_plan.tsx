/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { api } from '../app/api.ts'
import { count, number } from '../app/format.ts'
import { navigate } from '../app/location.ts'
import { newKey } from '../app/new_key.ts'
import { Confirm } from '../parts/action.tsx'
import { RateField, useRate } from '../parts/rate.tsx'
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
  const rate = useRate()
  // One key for all clicks with the same rate, so that a repeat after a lost response starts one job.
  const idempotencyKey = useMemo(newKey, [rate.text])
  const { total, alreadyDelivered, capped, read, readUntil, until } = preview
  const what = !capped
    ? count(total, 'earlier event')
    : total === 0
    ? 'earlier events that are not counted'
    : `${number(total)} or more earlier events`
  const start = async (): Promise<void> => {
    const job = await api.createBackfill({
      path: { endpointId },
      body: { ...selection, until, ratePerSecond: rate.perSecond },
      idempotencyKey,
    })
    navigate(`/replays/${job.id}`)
  }
  return (
    <Confirm
      title={`Send ${what}?`}
      label='Start the job'
      isReady={rate.isValid}
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
      {selection.includeDelivered === true && (
        <p>
          <strong>{againText(alreadyDelivered, total, capped)}</strong> The receiver gets{' '}
          {alreadyDelivered === 1 ? 'it' : 'them'}{' '}
          a second time, with the same id. If the endpoint is ordered, they come beside the live
          events and outside the order.
        </p>
      )}
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
      <RateField label='Events' rate={rate} total={total} more={capped} />
    </Confirm>
  )
}

function againText(again: number, total: number, isCapped: boolean): string {
  if (isCapped) return `${number(again)} or more of them were already delivered.`
  if (again === 0) return 'None of them was delivered before.'
  if (again === total) {
    return total === 1 ? 'It was already delivered.' : 'All were already delivered.'
  }
  return `${number(again)} of them ${again === 1 ? 'was' : 'were'} already delivered.`
}
