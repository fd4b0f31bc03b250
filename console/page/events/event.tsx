/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { api, asFailure, readText } from '../app/api.ts'
import { everyMs, useLive } from '../app/data.ts'
import { count, number } from '../app/format.ts'
import { usePlace } from '../app/location.ts'
import { CopyCommands } from '../parts/copy_commands.tsx'
import { memberText } from '../parts/json_text.ts'
import { JsonView } from '../parts/json_view.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Read } from '../parts/state.tsx'
import { Ago, Fact, Foreign, Time } from '../parts/value.tsx'
import { DeliveryCard } from './delivery.tsx'

type EventDetail = Output<'getEvent'>
type Delivery = Output<'getDelivery'>

/** So many deliveries of an event are in a response at most. */
const mostDeliveries = 1000

/** Cards that are shown at first, and added by a click: each reads its attempts. */
const cardsAtOnce = 20

interface EventText {
  event: EventDetail
  /** The payload as it was published, byte for byte. */
  payload: string | null
}

/** One event: its payload, and each of its deliveries with a timeline. */
export function EventPage({ id }: { id: string }): JSX.Element {
  const found = useLive(
    ['event', id],
    async (signal): Promise<EventText> => {
      const text = await readText(`/api/v1/events/${encodeURIComponent(id)}`, signal)
      // SAFETY: openapi.json describes the response.
      return { event: JSON.parse(text) as EventDetail, payload: memberText(text, 'payload') }
    },
    {
      everyOf: (value) =>
        value !== undefined && isSettled(value.event) ? everyMs.list : everyMs.live,
    },
  )
  const isMissing = found.isError && [400, 404].includes(asFailure(found.error).status)
  if (isMissing && found.data === undefined) {
    return (
      <Empty isPage title='There is no such event'>
        <p>
          It may have been deleted: an event is stored for 7 days after its delivery.{' '}
          <Link to='/events'>All events</Link>
        </p>
      </Empty>
    )
  }
  return (
    <Read of={found}>
      {({ event, payload }) => (
        <>
          <nav class='trail' aria-label='Trail'>
            <Link to='/events'>Events</Link>
          </nav>
          <div class='page-head'>
            <h1>
              <Foreign text={event.type} />
            </h1>
            <CopyCommands
              id={event.id}
              path={`/events/${event.id}`}
              sql={`select * from outbox.delivery_status where event_id = '${event.id}';`}
            />
          </div>
          <Facts event={event} />
          <section aria-label='Deliveries'>
            <h2>
              {event.deliveries.length >= mostDeliveries && 'The first '}
              {count(event.deliveries.length, 'delivery', 'deliveries')}
            </h2>
            <Deliveries event={event} payload={payload} />
          </section>
          <section class='card' aria-label='Payload'>
            <h2>Payload</h2>
            {payload === null
              ? <p class='quiet'>The payload is not stored any more.</p>
              : <JsonView text={payload} name='As it was published' />}
          </section>
        </>
      )}
    </Read>
  )
}

function isSettled({ routing, deliveries }: EventDetail): boolean {
  const open: readonly Delivery['status'][] = ['pending', 'processing', 'retrying', 'held']
  return routing === 'done' && !deliveries.some(({ status }) => open.includes(status))
}

function Facts({ event }: { event: EventDetail }): JSX.Element {
  return (
    <dl class='facts'>
      <Fact name='Published'>
        <Time at={event.createdAt} />{' '}
        <span class='quiet'>
          (<Ago at={event.createdAt} />)
        </span>
      </Fact>
      <Fact name='Event id'>
        <Foreign text={event.id} mono />
      </Fact>
      {event.correlationId !== null && (
        <Fact name='Correlation id'>
          <Link to={`/events?by=correlation&q=${encodeURIComponent(event.correlationId)}`}>
            <Foreign text={event.correlationId} mono />
          </Link>
        </Fact>
      )}
      {event.idempotencyKey !== null && (
        <Fact name='Idempotency key'>
          <Foreign text={event.idempotencyKey} mono />
        </Fact>
      )}
      {event.partitionKey !== null && (
        <Fact name='Partition key'>
          <Foreign text={event.partitionKey} mono />
        </Fact>
      )}
      {event.deliverAt !== null && (
        <Fact name='Not before'>
          <Time at={event.deliverAt} />
        </Fact>
      )}
    </dl>
  )
}

function Deliveries({ event, payload }: EventText): JSX.Element {
  if (event.deliveries.length > 0) return <Cards event={event} payload={payload} />
  if (event.routing === 'waiting') {
    return <p class='quiet'>It is being routed: its deliveries show here in a moment.</p>
  }
  if (event.routing === 'set_aside') {
    return (
      <p class='problem'>
        It could not be routed three times and was set aside. The runbook says what to do:
        sql/ops/RUNBOOK.md.
      </p>
    )
  }
  return (
    <Empty title='No endpoint was subscribed'>
      <p>
        An event goes to the endpoints that are subscribed to its type when it is published. Compare
        the type with the event types of your <Link to='/endpoints'>endpoints</Link>.
      </p>
    </Empty>
  )
}

/** The delivery that the address names is the first; the others in their order, some at a time. */
function Cards({ event, payload }: EventText): JSX.Element {
  const named = usePlace().query.get('delivery')
  const [shown, setShown] = useState(cardsAtOnce)
  const { deliveries } = event
  const isListed = deliveries.some(({ id }) => id === named)
  // The response has the first ones alone.
  const other = useLive(
    ['delivery', named],
    (signal) => api.getDelivery({ path: { deliveryId: named ?? '' }, signal }),
    { enabled: named !== null && !isListed && deliveries.length >= mostDeliveries },
  )
  const ordered = [
    ...other.data === undefined || isListed ? [] : [other.data],
    ...deliveries.filter(({ id }) => id === named),
    ...deliveries.filter(({ id }) => id !== named),
  ]
  const left = Math.max(0, ordered.length - shown)
  return (
    <>
      {ordered.slice(0, shown).map((delivery, i) => (
        <DeliveryCard
          key={delivery.id}
          delivery={delivery}
          event={event}
          payload={payload}
          isFirst={i === 0}
          cards={Math.min(shown, ordered.length)}
        />
      ))}
      {left > 0 && (
        <div class='row pager'>
          <span class='quiet'>{number(left)} more</span>
          <button type='button' onClick={() => setShown(shown + cardsAtOnce)}>
            Show {Math.min(left, cardsAtOnce)} more
          </button>
        </div>
      )}
    </>
  )
}
