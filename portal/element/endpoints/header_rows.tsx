/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useNextFocus } from '../../../console/page/parts/focus.ts'
import { usePortal } from '../app/context.ts'
import { Foreign } from '../parts/value.tsx'
import { bounds, type Fields } from './fields.ts'

type Headers = Fields['headers']

/** The custom headers. Values that are stored cannot be read, only replaced or removed. */
export function HeaderRows({ headers, error, onChange }: {
  headers: Headers
  error: string | null
  onChange(headers: Headers): void
}): JSX.Element {
  const { words: { t } } = usePortal()
  // A click removes the button that has the focus.
  const { root, focus } = useNextFocus<HTMLFieldSetElement>()
  const replace = (i: number, change: Partial<Headers[number]>): void =>
    onChange(headers.map((one, j) => j === i ? { ...one, ...change } : one))
  return (
    <fieldset ref={root}>
      <legend>{t('headers')}</legend>
      <p class={error === null ? 'quiet' : 'bad-text'}>{error ?? t('headersHint')}</p>
      {headers.map(({ name, value }, i) => (
        <div key={i} class='row header-row'>
          {value === null
            ? (
              <>
                <code>
                  <Foreign text={name} />
                </code>
                <span class='quiet'>{t('storedValue')}</span>
                <button
                  type='button'
                  class='plain'
                  part='button'
                  aria-label={t('replaceHeader', { name })}
                  onClick={() => {
                    replace(i, { value: '' })
                    focus(`[data-value='${i}']`)
                  }}
                >
                  {t('replace')}
                </button>
              </>
            )
            : (
              <>
                <input
                  part='input'
                  aria-label={t('headerNameLabel', { n: i + 1 })}
                  placeholder='x-tenant'
                  value={name}
                  maxLength={bounds.headerName}
                  spellcheck={false}
                  onInput={(event) => replace(i, { name: event.currentTarget.value })}
                />
                <input
                  part='input'
                  aria-label={t('headerValueLabel', { n: i + 1 })}
                  data-value={i}
                  value={value}
                  maxLength={bounds.headerValue}
                  spellcheck={false}
                  autocomplete='off'
                  onInput={(event) => replace(i, { value: event.currentTarget.value })}
                />
              </>
            )}
          <button
            type='button'
            class='plain'
            part='button'
            aria-label={t('removeHeader', { name })}
            onClick={() => {
              onChange(headers.filter((_, j) => j !== i))
              focus('[data-add]')
            }}
          >
            {t('remove')}
          </button>
        </div>
      ))}
      <button
        part='button'
        type='button'
        data-add=''
        onClick={() => onChange([...headers, { name: '', value: '' }])}
      >
        {t('addHeader')}
      </button>
    </fieldset>
  )
}
