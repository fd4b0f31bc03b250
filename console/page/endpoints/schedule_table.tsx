/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { span } from '../app/format.ts'

/** When each attempt is made after the first one has failed, drawn and as a list. */
export function ScheduleTable({ schedule }: {
  schedule: Output<'getRetryConfig'>['schedule']
}): JSX.Element {
  return (
    <>
      <Drawn after={schedule.map(({ afterSeconds }) => afterSeconds)} />
      <ol class='schedule'>
        <li>
          <span>Attempt 1</span>
          <span class='num'>at once</span>
        </li>
        {schedule.map(({ failure, delaySeconds, afterSeconds }) => (
          <li key={failure}>
            <span>Attempt {failure + 1}</span>
            <span class='num'>after {span(delaySeconds * 1000)}</span>
            <span class='num quiet'>{span(afterSeconds * 1000)} in all</span>
          </li>
        ))}
      </ol>
    </>
  )
}

/** The attempts on a line of time. The scale is logarithmic: seconds and hours are both visible. */
function Drawn({ after }: { after: number[] }): JSX.Element | null {
  const last = after.at(-1)
  if (last === undefined || last <= 0) return null
  const place = (seconds: number): number => 3 + 194 * Math.log1p(seconds) / Math.log1p(last)
  return (
    <svg class='drawn' viewBox='0 0 200 12' aria-hidden='true'>
      <line x1='3' y1='6' x2='197' y2='6' />
      {[0, ...after].map((seconds, i) => (
        <circle key={i} cx={Math.round(place(seconds) * 10) / 10} cy='6' r='3' />
      ))}
    </svg>
  )
}
