/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Input, Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { fieldOf, isoOf } from '../app/moment.ts'
import { useAction } from '../parts/action.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { MomentField, useZone } from '../parts/span.tsx'
import { Problem } from '../parts/state.tsx'
import { BackfillPlan } from './backfill_plan.tsx'
import { FieldOf, type Meaning } from './field.tsx'
import { type FormErrors, readSelection } from './form_schema.ts'

/** What a backfill sends, without its rate. */
export type Selection = Input<'previewBackfill'>['body']

export type Preview = Output<'previewBackfill'>

const dayMs = 86_400_000

const meanings: Record<'eventTypes' | 'filter', Meaning> = {
  eventTypes: {
    label: 'Event types',
    hint: 'Of those that the endpoint is subscribed to. Empty: all of them.',
  },
  filter: {
    label: 'Filter',
    hint: 'Besides that of the endpoint, such as $.total > 100. Empty: none.',
  },
}

/** Asks which earlier events an endpoint is sent, then shows how many these are, and sends them. */
export function Backfill({ endpointId, onClose }: {
  endpointId: string
  onClose(): void
}): JSX.Element {
  const zone = useZone()
  const [from, setFrom] = useState(() => fieldOf(new Date(Date.now() - dayMs).toISOString()))
  const [until, setUntil] = useState('')
  const [fields, setFields] = useState({ eventTypes: '', filter: '' })
  const [again, setAgain] = useState(false)
  const [errors, setErrors] = useState<FormErrors>({})
  const [found, setFound] = useState<{ selection: Selection; preview: Preview } | null>(null)
  const start = isoOf(from, zone)
  const end = isoOf(until, zone)
  const isOrdered = start === null || end === null || start < end
  const read = readSelection(fields)
  const preview = useAction(async () => {
    const selection = {
      ...read.selection,
      ...start === null ? {} : { from: start },
      ...end === null ? {} : { until: end },
      ...again ? { includeDelivered: true } : {},
    }
    const path = { endpointId }
    setFound({ selection, preview: await api.previewBackfill({ path, body: selection }) })
  })
  const isNone = found !== null && found.preview.total === 0 && !found.preview.capped
  if (found !== null && !isNone) return <BackfillPlan {...{ endpointId, ...found, onClose }} />
  const show = async (event: Event): Promise<void> => {
    event.preventDefault()
    setFound(null)
    setErrors(read.errors ?? {})
    if (read.errors === null && isOrdered) await preview.run()
  }
  return (
    <Dialog title='Send earlier events' onClose={onClose}>
      <form class='stack' onSubmit={(event) => void show(event)} noValidate>
        <p>
          Events that are still stored, and that this endpoint has never had, are sent to it.
          Nothing is sent before you have seen how many they are.
        </p>
        <MomentField
          label='Published from, empty: all'
          value={from}
          zone={zone}
          onInput={setFrom}
        />
        <MomentField label='Until, empty: now' value={until} zone={zone} onInput={setUntil} />
        {!isOrdered && <p class='hint' role='status'>The first time is not before the second.</p>}
        {(['eventTypes', 'filter'] as const).map((name) => (
          <FieldOf
            key={name}
            meaning={meanings[name]}
            value={fields[name]}
            error={errors[name]}
            onInput={(value) => setFields({ ...fields, [name]: value })}
          />
        ))}
        <label class='choice'>
          <input
            type='checkbox'
            checked={again}
            onChange={(event) => setAgain(event.currentTarget.checked)}
          />
          <span>
            Also what was already delivered. The receiver gets these events a second time: choose it
            if the receiver has lost them.
          </span>
        </label>
        {isNone && (
          <p class='hint' role='status'>
            {again
              ? 'There is no such event that can be sent.'
              : 'There is no such event that this endpoint has not had.'}
          </p>
        )}
        {preview.error !== null && <Problem error={preview.error} />}
        <div class='row end'>
          <button type='button' onClick={onClose}>Cancel</button>
          <button type='submit' class='primary' disabled={!isOrdered || preview.isRunning}>
            {preview.isRunning ? 'Counting …' : 'Show how many'}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
