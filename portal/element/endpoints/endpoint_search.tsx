/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { usePortal } from '../app/context.ts'

/** A field for a part of the URL or the description; it searches 250 ms after the last change. */
export function EndpointSearch({ onSearch }: { onSearch(text: string): void }): JSX.Element {
  const { words: { t } } = usePortal()
  const [text, setText] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => onSearch(text.trim()), 250)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <div role='search'>
      <label class='field'>
        {t('searchEndpoints')}
        <input
          type='search'
          part='input'
          value={text}
          placeholder={t('searchEndpointsHint')}
          maxLength={200}
          spellcheck={false}
          autocomplete='off'
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
    </div>
  )
}
