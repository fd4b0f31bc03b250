/** @jsxImportSource preact */

import type { JSX } from 'preact'

/** A field for a time in the zone of the browser; '': none. */
export function TimeField({ label, value, onTime }: {
  label: string
  value: string
  onTime(value: string): void
}): JSX.Element {
  return (
    <label class='field'>
      {label}
      <input
        part='input'
        type='datetime-local'
        value={value}
        // The API takes years of four digits.
        max='9999-12-31T23:59'
        onInput={(event) => {
          const { value: text, validity } = event.currentTarget
          onTime(validity.valid ? text : '')
        }}
      />
    </label>
  )
}

/** The time of such a field in UTC. */
export function isoOf(value: string): string {
  return new Date(value).toISOString()
}
