/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { visible } from '../../../console/page/app/format.ts'
import { usePortal } from '../app/context.ts'
import { useEventTypes } from '../types/catalogue.ts'

export interface TypeChoice {
  /** '': all. A token that is limited to event types must name one. */
  type: string
  types: string[]
  mayAll: boolean
  /** Whether a type is still missing that the token must name. */
  isMissing: boolean
  choose(type: string): void
}

/** A choice among the event types that the token may see. */
export function useTypeFilter(): TypeChoice {
  const { session } = usePortal()
  const { data = [] } = useEventTypes()
  const [chosen, setChosen] = useState('')
  const limits = session.eventTypes
  const mayAll = limits === null || limits.includes('*')
  const exact = (limits ?? []).filter((type) => !type.endsWith('*'))
  const types = [...new Set([...data.map(({ type }) => type), ...exact])].sort()
  const type = chosen !== '' || mayAll ? chosen : types[0] ?? ''
  return {
    type,
    types,
    mayAll,
    isMissing: type === '' && !mayAll,
    choose: setChosen,
  }
}

export function TypeFilter({ of, isTyped = false }: {
  of: TypeChoice
  /** Whether it follows each key, and not only the whole type. */
  isTyped?: boolean
}): JSX.Element | null {
  const { session, words: { t } } = usePortal()
  if (of.types.length === 0 && of.mayAll) return null
  if (of.types.length === 0) {
    const take = (event: { currentTarget: HTMLInputElement }): void =>
      of.choose(event.currentTarget.value.trim())
    return (
      <label class='field'>
        {t('eventType')}
        <input
          part='input'
          value={of.type}
          placeholder={session.eventTypes?.join(', ')}
          maxLength={128}
          spellcheck={false}
          autocomplete='off'
          {...isTyped ? { onInput: take } : { onChange: take }}
        />
      </label>
    )
  }
  return (
    <label class='field'>
      {t('eventType')}
      <select
        part='input'
        value={of.type}
        onChange={(event) => of.choose(event.currentTarget.value)}
      >
        {of.mayAll && <option value=''>{t('all')}</option>}
        {of.types.map((type) => <option key={type} value={type}>{visible(type)}</option>)}
      </select>
    </label>
  )
}
