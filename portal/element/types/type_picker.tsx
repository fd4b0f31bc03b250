/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import { visible } from '../../../console/page/app/format.ts'
import { usePortal } from '../app/context.ts'
import { Foreign } from '../parts/value.tsx'
import { type EventType, useEventTypes } from './catalogue.ts'
import { bounds } from '../endpoints/fields.ts'
import { TypeDetails } from './type_details.tsx'

/** Chooses event types: all, or some of the catalogue, or others by their names. */
export function TypePicker({ chosen, error, onChange }: {
  chosen: string[]
  error: string | null
  onChange(types: string[]): void
}): JSX.Element {
  const { session, words: { t } } = usePortal()
  const { data = [] } = useEventTypes()
  const [search, setSearch] = useState('')
  const isAll = chosen.includes('*')
  const mayAll = session.eventTypes === null || session.eventTypes.includes('*')
  const known = new Set(data.map(({ type }) => type))
  // What is chosen and not in the catalogue, such as order.*
  const others = chosen.filter((type) => type !== '*' && !known.has(type))
    .map((type): EventType => ({
      type,
      description: '',
      schema: null,
      createdAt: '',
      updatedAt: '',
    }))
  const word = search.toLowerCase()
  const found = [...others, ...data].filter(({ type, description }) =>
    type.toLowerCase().includes(word) || description.toLowerCase().includes(word)
  )
  const toggle = (type: string, isOn: boolean): void =>
    onChange(isOn ? [...chosen, type] : chosen.filter((one) => one !== type))
  return (
    <fieldset>
      <legend>{t('eventTypes')}</legend>
      <p class={error === null ? 'quiet' : 'bad-text'}>{error ?? t('eventTypesHint')}</p>
      {mayAll && (
        <label class='choice'>
          <input
            type='checkbox'
            checked={isAll}
            onChange={(event) => onChange(event.currentTarget.checked ? ['*'] : [])}
          />
          <span>{t('allEvents')}</span>
        </label>
      )}
      {!isAll && (
        <>
          {data.length > 8 && (
            <input
              part='input'
              type='search'
              aria-label={t('searchTypes')}
              placeholder={t('searchTypes')}
              value={search}
              onInput={(event) => setSearch(event.currentTarget.value)}
            />
          )}
          <div class='choices'>
            {found.map((one) => (
              <Choice
                key={one.type}
                one={one}
                isOn={chosen.includes(one.type)}
                onChange={(isOn) => toggle(one.type, isOn)}
              />
            ))}
          </div>
          <Other onAdd={(type) => chosen.includes(type) || onChange([...chosen, type])} />
        </>
      )}
    </fieldset>
  )
}

function Choice({ one, isOn, onChange }: {
  one: EventType
  isOn: boolean
  onChange(isOn: boolean): void
}): JSX.Element {
  const { words: { t } } = usePortal()
  const [isOpen, setOpen] = useState(false)
  return (
    <div class='choice-box'>
      <div class='row'>
        <label class='choice'>
          <input
            type='checkbox'
            checked={isOn}
            onChange={(event) => onChange(event.currentTarget.checked)}
          />
          <span>
            <code>
              <Foreign text={one.type} />
            </code>
            {one.description !== '' && (
              <span class='quiet'>
                {' '}
                <Foreign text={one.description} />
              </span>
            )}
          </span>
        </label>
        {one.schema !== null && (
          <button
            type='button'
            class='plain'
            part='button'
            aria-expanded={isOpen}
            aria-label={t('exampleOf', { type: visible(one.type) })}
            onClick={() => setOpen(!isOpen)}
          >
            {t('example')}
          </button>
        )}
      </div>
      {isOpen && <TypeDetails one={one} />}
    </div>
  )
}

function Other({ onAdd }: { onAdd(type: string): void }): JSX.Element {
  const { words: { t } } = usePortal()
  const [text, setText] = useState('')
  const id = useId()
  const add = (): void => {
    if (text.trim() !== '') onAdd(text.trim())
    setText('')
  }
  return (
    <div class='field'>
      <label for={id}>{t('otherType')}</label>
      <div class='row'>
        <input
          part='input'
          id={id}
          value={text}
          placeholder='order.*'
          maxLength={bounds.type}
          spellcheck={false}
          autocomplete='off'
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return
            // Enter adds the type, and does not send the form.
            event.preventDefault()
            add()
          }}
        />
        <button part='button' type='button' onClick={add}>{t('add')}</button>
      </div>
    </div>
  )
}
