/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { setQuery, usePlace } from '../app/location.ts'

/** A choice that is a parameter of the address; the first is the default. */
export function Choice({ name, label, choices }: {
  name: string
  label: string
  choices: readonly (readonly [value: string, text: string])[]
}): JSX.Element {
  const value = usePlace().query.get(name) ?? ''
  const id = useId()
  return (
    <div class='field'>
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
      >
        {choices.map(([one, text]) => <option key={one} value={one}>{text}</option>)}
      </select>
    </div>
  )
}

/** A text that is a parameter of the address, set when the typing pauses. */
export function TextFilter({ name, label, hint, search = false, most = 300 }: {
  name: string
  label: string
  hint: string
  /** Whether the key / goes there. */
  search?: boolean
  /** How many characters it takes. */
  most?: number
}): JSX.Element {
  const value = usePlace().query.get(name) ?? ''
  const [text, setText] = useState(value)
  const id = useId()
  useEffect(() => setText(value), [value])
  useEffect(() => {
    if (text === value) return
    const timer = setTimeout(() => setQuery({ [name]: text.trim() }), 250)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <div class='field grow'>
      <label for={id}>{label}</label>
      <input
        id={id}
        type='search'
        value={text}
        placeholder={hint}
        maxLength={most}
        spellcheck={false}
        autocomplete='off'
        data-search={search ? '' : undefined}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </div>
  )
}
