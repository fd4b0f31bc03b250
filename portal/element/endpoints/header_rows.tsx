/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { usePortal } from '../app/context.ts'
import { Foreign } from '../parts/value.tsx'
import type { Fields } from './fields.ts'

type Headers = Fields['headers']

/** The custom headers. Values that are stored cannot be read, only replaced or removed. */
export function HeaderRows({ headers, error, onChange }: {
  headers: Headers
  error: string | null
  onChange(headers: Headers): void
}): JSX.Element {
  const { words: { t } } = usePortal()
  const replace = (i: number, change: Partial<Headers[number]>): void =>
    onChange(headers.map((one, j) => j === i ? { ...one, ...change } : one))
  return (
    <fieldset>
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
                  aria-label={t('replaceHeader', { name })}
                  onClick={() => replace(i, { value: '' })}
                >
                  {t('replace')}
                </button>
              </>
            )
            : (
              <>
                <input
                  part='input'
                  aria-label={t('headerNameLabel')}
                  placeholder='x-tenant'
                  value={name}
                  maxLength={100}
                  spellcheck={false}
                  onInput={(event) => replace(i, { name: event.currentTarget.value })}
                />
                <input
                  part='input'
                  aria-label={t('headerValueLabel')}
                  value={value}
                  maxLength={4096}
                  spellcheck={false}
                  autocomplete='off'
                  onInput={(event) => replace(i, { value: event.currentTarget.value })}
                />
              </>
            )}
          <button
            type='button'
            class='plain'
            aria-label={t('removeHeader', { name })}
            onClick={() => onChange(headers.filter((_, j) => j !== i))}
          >
            {t('remove')}
          </button>
        </div>
      ))}
      <button
        part='button'
        type='button'
        onClick={() => onChange([...headers, { name: '', value: '' }])}
      >
        {t('addHeader')}
      </button>
    </fieldset>
  )
}
