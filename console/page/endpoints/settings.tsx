/** @jsxImportSource preact */

import { Fragment, type JSX } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { may } from '../app/session.ts'
import { useAction } from '../parts/action.tsx'
import { Problem } from '../parts/state.tsx'
import { FixedFacts } from './endpoint.tsx'
import { FilterTrial } from './filter_trial.tsx'
import { fieldsOf, type FormErrors, type FormFields, readForm } from './form_schema.ts'

type Endpoint = Output<'getEndpoint'>

const labels: Record<keyof FormFields, [label: string, hint: string]> = {
  url: ['URL', 'Another host also needs the custom headers again: change it over the API then.'],
  description: ['Description', 'For people: what receives these events.'],
  eventTypes: ['Event types', 'Separated by spaces: order.paid, order.* or *.'],
  filter: ['Filter', 'A condition on the payload, such as $.total > 100. Empty: all events.'],
  timeoutMs: ['Timeout in ms', 'Of a whole request.'],
  maxInFlight: ['Requests in flight', 'At most, at the same time.'],
  ratePerSecond: ['Requests a second', 'At most. Empty: no limit.'],
}

/** The settings as a form. The API checks a change again before it is saved. */
export function Settings({ endpoint }: { endpoint: Endpoint }): JSX.Element {
  // What the form began with. It stays while somebody types, whatever is read in the meantime.
  const [base, setBase] = useState(endpoint)
  const [fields, setFields] = useState(() => fieldsOf(base))
  const [errors, setErrors] = useState<FormErrors>({})
  const read = readForm(fields, base)
  const isChanged = JSON.stringify(fields) !== JSON.stringify(fieldsOf(base))
  const begin = (from: Endpoint): void => {
    setBase(from)
    setFields(fieldsOf(from))
    setErrors({})
  }
  const isOutdated = endpoint.version > base.version
  useEffect(() => {
    if (isOutdated && !isChanged) begin(endpoint)
  }, [isOutdated, isChanged])
  const action = useAction(async () => {
    if (read.change === null) return
    // Somebody else's change in the meantime is not overwritten.
    begin(
      await api.updateEndpoint({
        path: { endpointId: base.id },
        body: read.change,
        ifMatch: `"${base.version}"`,
      }),
    )
  })
  const save = async (event: Event): Promise<void> => {
    event.preventDefault()
    setErrors(read.errors ?? {})
    if (read.errors === null) await action.run()
  }
  // SAFETY: the keys of the table above.
  const names = Object.keys(labels) as (keyof FormFields)[]
  return (
    <section class='card' aria-label='Settings'>
      <h2>Settings</h2>
      <form class='stack' onSubmit={(event) => void save(event)} noValidate>
        {names.map((name) => (
          <Fragment key={name}>
            <Field
              name={name}
              value={fields[name]}
              error={errors[name]}
              onInput={(value) => setFields({ ...fields, [name]: value })}
            />
            {name === 'filter' && may('events:read') && (
              <FilterTrial
                filter={fields.filter}
                eventTypes={fields.eventTypes.split(/[\s,]+/).filter((type) => type !== '')}
              />
            )}
          </Fragment>
        ))}
        {isOutdated && isChanged && (
          <p class='hint' role='status'>
            Somebody else has changed this endpoint. Undo your changes to see the new settings.
          </p>
        )}
        {action.error !== null && <Problem error={action.error} />}
        {may('endpoints:write') && (
          <div class='row'>
            <button type='submit' class='primary' disabled={!isChanged || action.isRunning}>
              {action.isRunning ? 'Saving …' : 'Save'}
            </button>
            {isChanged && (
              <button type='button' onClick={() => begin(endpoint)}>Undo changes</button>
            )}
          </div>
        )}
      </form>
      <FixedFacts endpoint={endpoint} />
    </section>
  )
}

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
