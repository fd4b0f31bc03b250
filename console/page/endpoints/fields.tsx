/** @jsxImportSource preact */

import { Fragment, type JSX } from 'preact'
import { useId } from 'preact/hooks'
import { may } from '../app/session.ts'
import { FilterTrial } from './filter_trial.tsx'
import type { FormErrors, FormFields, NewFields } from './form_schema.ts'

const labels: Record<keyof FormFields, [label: string, hint: string]> = {
  url: ['URL', 'Where the requests go.'],
  description: ['Description', 'For people: what receives these events.'],
  eventTypes: ['Event types', 'Separated by spaces: order.paid, order.* or *.'],
  filter: ['Filter', 'A condition on the payload, such as $.total > 100. Empty: all events.'],
  timeoutMs: ['Timeout in ms', 'Of a whole request.'],
  maxInFlight: ['Requests in flight', 'At most, at the same time.'],
  ratePerSecond: ['Requests a second', 'At most. Empty: no limit.'],
}

/** The fields of an endpoint that `fields` has, with a trial below the filter. */
export function Fields({ fields, errors, onField }: {
  fields: NewFields & Partial<FormFields>
  errors: FormErrors
  onField(name: keyof FormFields, value: string): void
}): JSX.Element {
  // SAFETY: the keys of the table above.
  const names = (Object.keys(labels) as (keyof FormFields)[]).filter((name) => name in fields)
  return (
    <>
      {names.map((name) => (
        <Fragment key={name}>
          <Field
            name={name}
            value={fields[name] ?? ''}
            error={errors[name]}
            onInput={(value) => onField(name, value)}
          />
          {name === 'filter' && may('events:read') && (
            <FilterTrial
              filter={fields.filter}
              eventTypes={fields.eventTypes.split(/[\s,]+/).filter((type) => type !== '')}
            />
          )}
        </Fragment>
      ))}
    </>
  )
}

/** A field with its error, or what it is for. */
function Field({ name, value, error, onInput }: {
  name: keyof FormFields
  value: string
  error: string | undefined
  onInput(value: string): void
}): JSX.Element {
  const [label, hint] = labels[name]
  const id = useId()
  return (
    <div class='field'>
      <label for={id}>{label}</label>
      <input
        id={id}
        value={value}
        spellcheck={false}
        autocomplete='off'
        readOnly={!may('endpoints:write')}
        inputMode={['timeoutMs', 'maxInFlight'].includes(name) ? 'numeric' : 'text'}
        aria-describedby={`${id}-hint`}
        aria-invalid={error !== undefined}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <p id={`${id}-hint`} class={error === undefined ? 'field-hint' : 'field-error'}>
        {error === undefined ? hint : `${error}.`}
      </p>
    </div>
  )
}
