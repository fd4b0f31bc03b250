/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { number } from '../app/format.ts'

/** The share of delivered attempts as a bar, with the numbers. */
export function HealthBar({ delivered, failed }: {
  delivered: number
  failed: number
}): JSX.Element {
  const total = delivered + failed
  if (total === 0) return <span class='quiet'>no attempt</span>
  // Never nothing, as long as one failed.
  const bad = failed === 0 ? 0 : Math.max(4, Math.round((failed / total) * 100))
  return (
    <span class='health-bar'>
      <svg viewBox='0 0 100 6' preserveAspectRatio='none' aria-hidden='true'>
        <rect class='bar-good' x='0' y='0' width={100 - bad} height='6' />
        <rect class='bar-bad' x={100 - bad} y='0' width={bad} height='6' />
      </svg>
      <span>
        {number(delivered)}
        {failed > 0 && <span class='bad-text'>, {number(failed)} failed</span>}
      </span>
    </span>
  )
}
