/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { fieldOf, isoOf } from '../app/moment.ts'
import { ReplaySpan } from '../dead_letters/replay_all.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { MomentField, type Span, useZone } from '../parts/span.tsx'

const dayMs = 86_400_000

/** Asks for a span, then shows how many dead letters of the endpoint are replayed, and replays them. */
export function SpanReplay({ endpointId, onClose }: {
  endpointId: string
  onClose(): void
}): JSX.Element {
  const zone = useZone()
  const [from, setFrom] = useState(() => fieldOf(new Date(Date.now() - dayMs).toISOString()))
  const [to, setTo] = useState('')
  const [span, setSpan] = useState<Span | null>(null)
  if (span !== null) return <ReplaySpan endpointId={endpointId} span={span} onClose={onClose} />
  const start = isoOf(from, zone)
  const end = isoOf(to, zone)
  const isOrdered = start !== null && (end === null || start < end)
  return (
    <Dialog title='Replay what failed in a span' onClose={onClose}>
      <form
        class='stack'
        onSubmit={(event) => {
          event.preventDefault()
          if (isOrdered) setSpan({ from: start, ...end === null ? {} : { to: end } })
        }}
      >
        <p>
          The dead letters of this endpoint that failed in the span are sent again. Nothing is sent
          before you have seen how many they are.
        </p>
        <MomentField label='From' value={from} zone={zone} onInput={setFrom} />
        <MomentField label='Until, empty: now' value={to} zone={zone} onInput={setTo} />
        {!isOrdered && <p class='hint' role='status'>The first time is not before the second.</p>}
        <div class='row end'>
          <button type='button' onClick={onClose}>Cancel</button>
          <button type='submit' class='primary' disabled={!isOrdered}>Show how many</button>
        </div>
      </form>
    </Dialog>
  )
}
