/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { everyMs, useLive } from '../app/data.ts'
import { visible } from '../app/format.ts'
import { may } from '../app/session.ts'
import { ActionButton, Confirm } from '../parts/action.tsx'
import { Read } from '../parts/state.tsx'
import { DeliveryBadge } from '../parts/status.tsx'
import { EndpointName } from '../parts/value.tsx'
import { explainDelivery } from './explain.ts'
import { Timeline } from './timeline.tsx'

type EventDetail = Output<'getEvent'>
type Delivery = Output<'getDelivery'>

const open: readonly Delivery['status'][] = ['pending', 'processing', 'retrying', 'held']

/** A delivery: where it is and why, what can be done, and its timeline. */
export function DeliveryCard({ delivery, event, payload, isFirst }: {
  delivery: Delivery
  event: EventDetail
  /** As it was published, byte for byte. */
  payload: string | null
  /** Whether the key r acts on it. */
  isFirst: boolean
}): JSX.Element {
  const isOpen = open.includes(delivery.status)
  const attempts = useLive(
    ['attempts', delivery.id],
    (signal) =>
      api.listAttempts({ path: { deliveryId: delivery.id }, query: { limit: 100 }, signal }),
    { every: isOpen ? everyMs.live : everyMs.list, enabled: may('deliveries:read') },
  )
  return (
    <article class='card delivery'>
      <div class='card-head'>
        <h3>
          <EndpointName id={delivery.endpointId} />
        </h3>
        <DeliveryBadge status={delivery.status} />
      </div>
      <p>{visible(explainDelivery(delivery))}</p>
      <Actions delivery={delivery} isFirst={isFirst} />
      {may('deliveries:read') && (
        <Read of={attempts}>
          {({ data, nextCursor }) => (
            <Timeline
              delivery={delivery}
              event={event}
              payload={payload}
              attempts={data}
              isCut={nextCursor !== null}
            />
          )}
        </Read>
      )}
    </article>
  )
}

function Actions({ delivery, isFirst }: { delivery: Delivery; isFirst: boolean }): JSX.Element {
  const [isCancelling, setCancelling] = useState(false)
  const path = { deliveryId: delivery.id }
  const isOpen = open.includes(delivery.status)
  return (
    <div class='row'>
      {delivery.status === 'retrying' && may('deliveries:replay') && (
        <ActionButton
          label='Retry now'
          main={isFirst}
          act={() => api.retryDelivery({ path })}
        />
      )}
      {!isOpen && delivery.status !== 'event_missing' && may('deliveries:replay') && (
        <ActionButton
          label='Send again'
          main={isFirst}
          act={() => api.replayDelivery({ path })}
        />
      )}
      {isOpen && may('deliveries:cancel') && (
        <button
          type='button'
          onClick={() => setCancelling(true)}
        >
          Cancel delivery
        </button>
      )}
      {isCancelling && (
        <Confirm
          title='Cancel this delivery?'
          label='Cancel delivery'
          danger
          act={() => api.cancelDelivery({ path })}
          onClose={() => setCancelling(false)}
        >
          <p>
            This one delivery is not sent any more. Deliveries of the event to other endpoints stay.
            You can send it again later.
          </p>
        </Confirm>
      )}
    </div>
  )
}
