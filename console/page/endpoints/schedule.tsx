/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { useLive } from '../app/data.ts'
import { may } from '../app/session.ts'
import { later } from '../parts/later.tsx'
import { Read } from '../parts/state.tsx'
import { ScheduleTable } from './schedule_table.tsx'

const RetryForm = later(async () => (await import('./retry_form.tsx')).RetryForm)

/** The retry schedule, and its form. */
export function Schedule({ endpoint }: { endpoint: Output<'getEndpoint'> }): JSX.Element {
  const [isChanging, setChanging] = useState(false)
  const config = useLive(
    ['retry', endpoint.id, endpoint.version],
    (signal) => api.getRetryConfig({ path: { endpointId: endpoint.id }, signal }),
    // A change of the endpoint is another key, and an open form stays.
    { every: false, keep: true },
  )
  return (
    <section class='card' aria-label='Retries'>
      <h2>Retries</h2>
      <Read of={config}>
        {(one) => (
          <>
            <ScheduleTable schedule={one.schedule} />
            <p class='quiet'>
              {endpoint.retryPreset ? 'The preset of its kind. ' : 'A schedule of its own. '}
              After the last attempt the delivery becomes a dead letter.
            </p>
            {may('endpoints:write') && (
              <div class='row'>
                <button type='button' onClick={() => setChanging(true)}>Change the retries</button>
              </div>
            )}
            {isChanging && (
              <RetryForm
                endpointId={endpoint.id}
                config={one}
                onClose={() => setChanging(false)}
              />
            )}
          </>
        )}
      </Read>
    </section>
  )
}
