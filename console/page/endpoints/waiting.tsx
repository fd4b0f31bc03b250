/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { api } from '../app/api.ts'
import { useLive } from '../app/data.ts'
import { count } from '../app/format.ts'
import { may } from '../app/session.ts'

/** How many deliveries an action at the endpoint concerns at once. */
export function WaitingNow({ endpointId }: { endpointId: string }): JSX.Element | null {
  const stats = useLive(
    ['stats', endpointId],
    (signal) => api.getEndpointStats({ path: { endpointId }, signal }),
    { enabled: may('deliveries:read') },
  )
  if (stats.data === undefined) return null
  const { open, inFlight } = stats.data
  if (open === 0) return <p role='status'>No delivery waits at the moment.</p>
  return (
    <p role='status'>
      {count(open, 'delivery', 'deliveries')} {open === 1 ? 'waits' : 'wait'} at the moment
      {inFlight > 0 && `, ${count(inFlight, 'request')} of these in flight`}.
    </p>
  )
}
