/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { visible } from '../app/format.ts'
import { may } from '../app/session.ts'
import { useNextFocus } from '../parts/focus.ts'
import { Foreign } from '../parts/value.tsx'
import type { HeaderRow } from './headers.ts'

/** The custom headers of an endpoint: values that are stored cannot be read, only replaced or removed. */
export function HeaderRows({ rows, error, isOther, onChange }: {
  rows: readonly HeaderRow[]
  error: string | null
  /** Whether the URL leads to another host now, which must not get the values of the first one. */
  isOther: boolean
  onChange(rows: HeaderRow[]): void
}): JSX.Element {
  const replace = (i: number, change: Partial<HeaderRow>): void =>
    onChange(rows.map((one, j) => j === i ? { ...one, ...change } : one))
  // A click removes the button that has the focus.
  const { root, focus } = useNextFocus<HTMLFieldSetElement>()
  const mayWrite = may('endpoints:write')
  const isKept = rows.some(({ value }) => value === null)
  return (
    <fieldset ref={root} class='field'>
      <legend>Custom headers</legend>
      <p class='field-hint'>
        Sent with each request. Values cannot be read, only replaced.
      </p>
      {rows.map(({ name, value }, i) => (
        <div key={i} class='row header-row'>
          {value === null
            ? (
              <>
                <code>
                  <Foreign text={name} />
                </code>
                <span class='quiet' aria-label='a stored value'>••••••••</span>
                {mayWrite && (
                  <button
                    type='button'
                    class='plain'
                    aria-label={`Replace the value of ${visible(name)}`}
                    onClick={() => {
                      replace(i, { value: '' })
                      focus(`[data-value='${i}']`)
                    }}
                  >
                    Replace
                  </button>
                )}
              </>
            )
            : (
              <>
                <input
                  aria-label={`Name of the header ${i + 1}`}
                  placeholder='x-tenant'
                  value={name}
                  maxLength={100}
                  spellcheck={false}
                  autocomplete='off'
                  onInput={(event) => replace(i, { name: event.currentTarget.value })}
                />
                <input
                  aria-label={`Value of the header ${i + 1}`}
                  data-value={i}
                  value={value}
                  spellcheck={false}
                  autocomplete='off'
                  onInput={(event) => replace(i, { value: event.currentTarget.value })}
                />
              </>
            )}
          {mayWrite && (
            <button
              type='button'
              class='plain'
              aria-label={`Remove the header ${visible(name)}`}
              onClick={() => {
                onChange(rows.filter((_, j) => j !== i))
                focus('[data-add]')
              }}
            >
              Remove
            </button>
          )}
        </div>
      ))}
      {rows.length === 0 && !mayWrite && <p class='quiet'>none</p>}
      {isOther && isKept && (
        <p class='hint' role='status'>
          The URL leads to another host: replace or remove each stored value first.
        </p>
      )}
      {error !== null && <p class='field-error'>{error}.</p>}
      {mayWrite && (
        <button
          type='button'
          data-add=''
          onClick={() => onChange([...rows, { name: '', value: '' }])}
        >
          Add header
        </button>
      )}
    </fieldset>
  )
}
