/** @jsxImportSource preact */

import { Fragment, type JSX } from 'preact'
import { may } from '../app/session.ts'
import { Field } from './field.tsx'
import { FilterTrial } from './filter_trial.tsx'
import type { FormFields, NewFields } from './form_fields.ts'
import type { FormErrors } from './form_schema.ts'

/** The fields that are always open. */
const first: readonly (keyof FormFields)[] = [
  ...['url', 'description', 'eventTypes', 'filter'] as const,
  ...['timeoutMs', 'maxInFlight', 'ratePerSecond'] as const,
]

const further: readonly (keyof FormFields)[] = [
  ...['payload', 'rateBurst', 'quantum', 'retry4xx', 'onDeadLetter'] as const,
  ...['breakerEnabled', 'breakerThreshold', 'breakerOpenMs'] as const,
]

const unused: ReadonlySet<keyof FormFields> = new Set()

/** The fields of an endpoint that `fields` has, with a trial below the filter. */
export function Fields({ fields, errors, without = unused, onField }: {
  fields: NewFields & Partial<FormFields>
  errors: FormErrors
  /** Those that are not shown. */
  without?: ReadonlySet<keyof FormFields>
  onField(name: keyof FormFields, value: string): void
}): JSX.Element {
  const shown = (names: typeof first): typeof first =>
    names.filter((name) => name in fields && !without.has(name))
  const more = shown(further)
  const isWrong = more.some((name) => errors[name] !== undefined)
  const field = (name: keyof FormFields): JSX.Element => (
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
  )
  return (
    <>
      {shown(first).map(field)}
      {more.length > 0 && (
        // An error would stay unseen in a closed one.
        <details class='stack' {...isWrong ? { open: true } : {}}>
          <summary>More settings</summary>
          <div class='stack'>{more.map(field)}</div>
        </details>
      )}
    </>
  )
}
