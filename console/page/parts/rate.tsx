/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { span } from '../app/format.ts'

/** The rate of a job as it is typed, and as a number if it is one that a job may have. */
export interface Rate {
  text: string
  perSecond: number
  isValid: boolean
  set(text: string): void
}

/** The state of a rate field: 50 at first. */
export function useRate(): Rate {
  const [text, set] = useState('50')
  const perSecond = Number(text)
  return {
    text,
    perSecond,
    isValid: /^\d+$/.test(text) && perSecond >= 1 && perSecond <= 1000,
    set,
  }
}

/** The field, and how long a job of `total` takes at this rate; at least that long if there may be `more`. */
export function RateField({ label, rate, total, more }: {
  /** What the job does in a second, such as "Events". */
  label: string
  rate: Rate
  total: number
  more: boolean
}): JSX.Element {
  return (
    <>
      <label class='field'>
        {label} a second, from 1 to 1,000
        <input
          value={rate.text}
          inputMode='numeric'
          aria-invalid={!rate.isValid}
          onInput={(event) => rate.set(event.currentTarget.value)}
        />
      </label>
      {rate.isValid && total > 0 && (
        <p class='quiet'>
          It takes {more ? 'at least' : 'about'} {span((total / rate.perSecond) * 1000)}.
        </p>
      )}
    </>
  )
}
