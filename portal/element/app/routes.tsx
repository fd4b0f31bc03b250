/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { DeliveryView } from '../deliveries/delivery.tsx'
import { EndpointView } from '../endpoints/endpoint.tsx'
import { EndpointsView } from '../endpoints/endpoints.tsx'
import { NewEndpoint } from '../endpoints/new_endpoint.tsx'
import { EventTypesView } from '../types/event_types.tsx'
import { Go } from '../parts/go.tsx'
import { usePortal } from './context.ts'

/** The view of the page. */
export function Routes(): JSX.Element {
  const { router, can, words } = usePortal()
  const [room = '', id, tab = '', part = null] = router.page.split('/')
  if (room === 'endpoints' && can('endpoints:read')) {
    if (id === undefined) return <EndpointsView />
    if (id === 'new' && can('endpoints:write')) return <NewEndpoint />
    return <EndpointView key={id} id={id} tab={tab} part={part} />
  }
  if (room === 'deliveries' && id !== undefined && can('deliveries:read')) {
    return <DeliveryView key={id} id={id} />
  }
  if (room === 'event-types' && can('event-types:read')) {
    return <EventTypesView selected={id ?? null} />
  }
  return (
    <div class='empty'>
      <h2>{words.t('noPage')}</h2>
      {can('endpoints:read') && <Go to='endpoints'>{words.t('allEndpoints')}</Go>}
    </div>
  )
}
