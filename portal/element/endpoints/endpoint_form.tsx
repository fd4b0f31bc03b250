/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import { visible } from '../../../console/page/app/format.ts'
import { usePortal } from '../app/context.ts'
import { type Running } from '../app/data.ts'
import { asFailure } from '../app/failure.ts'
import type { TextKey } from '../app/words.ts'
import { Problem } from '../parts/state.tsx'
import { TypePicker } from '../types/type_picker.tsx'
import { bounds, errorsOf, type FieldErrors, fieldOf, type Fields } from './fields.ts'
import { FilterTrial } from './filter_trial.tsx'
import { HeaderRows } from './header_rows.tsx'

/** The form of a new endpoint and of a change. */
export function EndpointForm({ fields, onChange, action, label, isUrl = true, children }: {
  fields: Fields
  onChange(fields: Fields): void
  action: Running
  label: string
  /** Whether its address is the URL of an HTTP request. */
  isUrl?: boolean
  children?: ComponentChildren
}): JSX.Element {
  const { words } = usePortal()
  const { t } = words
  const [errors, setErrors] = useState<FieldErrors>({})
  const submit = (event: Event): void => {
    event.preventDefault()
    const found = errorsOf(fields, isUrl)
    setErrors(found)
    if (Object.keys(found).length === 0) void action.run()
  }
  const refused = fieldOf(action.error)
  const errorOf = (name: keyof Fields): string | null => {
    const error = errors[name]
    if (error !== undefined) return t(error.key, { n: error.n })
    return refused === name ? refusalOf(action.error) : null
  }
  return (
    <form class='stack wide-gap' onSubmit={submit} noValidate>
      {isUrl && (
        <TextField
          name='url'
          value={fields.url}
          hint='urlHint'
          error={errorOf('url')}
          onInput={(url) => onChange({ ...fields, url })}
        />
      )}
      <TextField
        name='description'
        value={fields.description}
        hint='descriptionHint'
        error={errorOf('description')}
        onInput={(description) => onChange({ ...fields, description })}
      />
      <TypePicker
        chosen={fields.types}
        error={errorOf('types')}
        onChange={(types) => onChange({ ...fields, types })}
      />
      <details open={fields.filter !== '' || fields.headers.length > 0}>
        <summary>{t('advanced')}</summary>
        <div class='stack'>
          <TextField
            name='filter'
            value={fields.filter}
            hint='filterHint'
            error={errorOf('filter')}
            onInput={(filter) => onChange({ ...fields, filter })}
          />
          <FilterTrial filter={fields.filter} types={fields.types} />
          <HeaderRows
            headers={fields.headers}
            error={errorOf('headers')}
            onChange={(headers) => onChange({ ...fields, headers })}
          />
        </div>
      </details>
      {action.error !== null && refused === null && <Problem error={action.error} words={words} />}
      <div class='row'>
        <button type='submit' part='button' class='primary' disabled={action.isRunning}>
          {label}
        </button>
        {children}
      </div>
    </form>
  )
}

function refusalOf(error: unknown): string | null {
  const failure = asFailure(error)
  if (failure === null) return null
  return visible(
    failure.remedy === null ? `${failure.message}.` : `${failure.message}. ${failure.remedy}.`,
  )
}

function TextField({ name, value, hint, error, onInput }: {
  name: 'url' | 'description' | 'filter'
  value: string
  hint: TextKey
  error: string | null
  onInput(value: string): void
}): JSX.Element {
  const { words: { t } } = usePortal()
  const id = useId()
  return (
    <div class='field'>
      <label for={id}>{t(name)}</label>
      <input
        id={id}
        part='input'
        type={name === 'url' ? 'url' : 'text'}
        value={value}
        maxLength={bounds[name]}
        spellcheck={false}
        autocomplete='off'
        aria-describedby={`${id}-hint`}
        aria-invalid={error !== null}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <p id={`${id}-hint`} class={error === null ? 'quiet' : 'bad-text'}>{error ?? t(hint)}</p>
    </div>
  )
}
