/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
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

/** Time to the next reading for each card, so that a page of many does not use up the limit of requests. */
const perCardMs = 250

/** A delivery: where it is and why, what can be done, and its timeline. */
export function DeliveryCard({ delivery, event, payload, isFirst, cards }: {
  delivery: Delivery
  event: EventDetail
  /** As it was published, byte for byte. */
  payload: string | null
  /** Whether the key r acts on it. */
  isFirst: boolean
  /** How many cards the page shows. */
  cards: number
}): JSX.Element {
  const isOpen = open.includes(delivery.status)
  const attempts = useLive(
    ['attempts', delivery.id],
    (signal) =>
      api.listAttempts({ path: { deliveryId: delivery.id }, query: { limit: 100 }, signal }),
    {
      every: Math.max(isOpen ? everyMs.live : everyMs.slow, cards * perCardMs),
      enabled: may('deliveries:read'),
    },
  )
  const seen = useRef(`${delivery.status} ${delivery.attempt}`)
  useEffect(() => {
    const now = `${delivery.status} ${delivery.attempt}`
    if (seen.current !== now) void attempts.refetch()
    seen.current = now
  }, [delivery.status, delivery.attempt])
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
