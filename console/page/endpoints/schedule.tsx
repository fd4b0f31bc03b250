/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { useLive } from '../app/data.ts'
import { span } from '../app/format.ts'
import { Read } from '../parts/state.tsx'

/** The retry schedule: when each attempt is made after the first one has failed. */
export function Schedule({ endpoint }: { endpoint: Output<'getEndpoint'> }): JSX.Element {
  const config = useLive(
    ['retry', endpoint.id, endpoint.version],
    (signal) => api.getRetryConfig({ path: { endpointId: endpoint.id }, signal }),
    { every: false },
  )
  return (
    <section class='card' aria-label='Retries'>
      <h2>Retries</h2>
      <Read of={config}>
        {({ schedule }) => (
          <>
            <Drawn after={schedule.map(({ afterSeconds }) => afterSeconds)} />
            <p class='quiet'>
              {endpoint.retryPreset ? 'The preset of its kind. ' : 'A schedule of its own. '}
              After the last attempt the delivery becomes a dead letter.
            </p>
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
        )}
      </Read>
    </section>
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
