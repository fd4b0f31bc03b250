/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { number } from '../app/format.ts'

/** How much of a known number is done. */
export function Progress({ done, total, label }: {
  done: number
  total: number
  label: string
}): JSX.Element {
  const percent = total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100))
  return (
    <div class='progress'>
      <progress max={100} value={percent} aria-label={label} />
      <span class='num'>{label} {number(done)} of {number(total)} ({percent} %)</span>
    </div>
  )
}
