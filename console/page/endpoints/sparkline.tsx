/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { number } from '../app/format.ts'

const height = 20
const [step, width] = [4, 3]

/** The attempts of a span in parts, as bars with what failed on top, and the numbers. */
export function Sparkline({ of }: {
  of: {
    delivered: number
    failed: number
    /** An API of the version before has no parts. */
    deliveredParts?: readonly number[] | undefined
    failedParts?: readonly number[] | undefined
  }
}): JSX.Element {
  const { delivered, failed, deliveredParts = [], failedParts = [] } = of
  if (delivered + failed === 0) return <span class='quiet'>no attempt</span>
  const most = Math.max(1, ...deliveredParts.map((good, n) => good + (failedParts[n] ?? 0)))
  // Never nothing, as long as there was one.
  const tall = (count: number): number =>
    count === 0 ? 0 : Math.max(2, Math.round((count / most) * height))
  const good = deliveredParts.map((count, n) => bar(n, height, tall(count))).join('')
  const bad = failedParts.map((count, n) =>
    bar(n, height - tall(deliveredParts[n] ?? 0), tall(count))
  )
    .join('')
  return (
    <span class='sparkline'>
      {deliveredParts.length > 0 && (
        <svg
          viewBox={`0 -2 ${deliveredParts.length * step} ${height + 2}`}
          preserveAspectRatio='none'
          aria-hidden='true'
        >
          <path class='bar-good' d={good} />
          <path class='bar-bad' d={bad} />
        </svg>
      )}
      <span>
        {number(delivered)}
        {failed > 0 && <span class='bad-text'>, {number(failed)} failed</span>}
      </span>
    </span>
  )
}

/** A bar that ends at a height, as a part of a path. */
function bar(n: number, bottom: number, tall: number): string {
  return tall === 0 ? '' : `M${n * step} ${bottom}v-${tall}h${width}v${tall}z`
}
