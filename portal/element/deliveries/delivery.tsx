/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { visible } from '../../../console/page/app/format.ts'
import { memberText } from '../../../console/page/parts/json_text.ts'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { everyMs, useRead } from '../app/data.ts'
import { asFailure } from '../app/failure.ts'
import { ActionButton } from '../parts/action.tsx'
import { Go } from '../parts/go.tsx'
import { Json } from '../parts/json.tsx'
import { Read } from '../parts/state.tsx'
import { Ago, DeliveryBadge, Foreign, Time } from '../parts/value.tsx'
import { Attempts } from './attempts.tsx'

type Delivery = Output<'getDelivery'>

const open: readonly Delivery['status'][] = ['pending', 'processing', 'retrying', 'held']

/** One delivery: why it is where it is, each attempt, and the payload. */
export function DeliveryView({ id }: { id: string }): JSX.Element {
  const { client, words: { t } } = usePortal()
  const path = { deliveryId: id }
  const delivery = useRead(
    ['delivery', id],
    (signal) => client.getDelivery({ path, signal }),
    {
      every: (value) =>
        value !== undefined && open.includes(value.status) ? everyMs.live : everyMs.list,
    },
  )
  const [, endpointId = ''] = id.split('.')
  const status = asFailure(delivery.error)?.status ?? 0
  return (
    <section>
      <p class='trail'>
        <Go to={`endpoints/${endpointId}`}>{t('backToEndpoint')}</Go>
      </p>
      {delivery.isError && (status === 400 || status === 404)
        ? <h2>{t('noDelivery')}</h2>
        : <Read of={delivery}>{(one) => <One delivery={one} />}</Read>}
    </section>
  )
}

function One({ delivery }: { delivery: Delivery }): JSX.Element {
  const { can, client, words: { t } } = usePortal()
  const path = { deliveryId: delivery.id }
  const { status, reason, nextAttemptAt } = delivery
  const isOpen = open.includes(status)
  return (
    <div class='stack wide-gap'>
      <div class='head'>
        <h2>
          <Foreign text={delivery.eventType} />
        </h2>
        <DeliveryBadge status={status} />
      </div>
      <p>
        {t(`explain_${status}`)}
        {reason !== null && ` ${visible(reason)}.`}
        {status === 'retrying' && nextAttemptAt !== null && (
          <>
            {' '}
            {t('nextAttempt')} <Ago at={nextAttemptAt} />.
          </>
        )}
      </p>
      {can('deliveries:replay') && (
        <div class='row'>
          {status === 'retrying' && (
            <ActionButton
              label={t('retryNow')}
              primary
              act={() => client.retryDelivery({ path })}
            />
          )}
          {!isOpen && status !== 'event_missing' && (
            <ActionButton
              label={t('sendAgain')}
              primary
              act={() => client.replayDelivery({ path })}
            />
          )}
        </div>
      )}
      <dl class='facts'>
        <dt>{t('published')}</dt>
        <dd>
          <Time at={delivery.createdAt} />
        </dd>
        <dt>{t('eventId')}</dt>
        <dd>
          <code>
            <Foreign text={delivery.eventId} />
          </code>
        </dd>
      </dl>
      <Attempts delivery={delivery} isOpen={isOpen} />
      {can('events:read') && status !== 'event_missing' && <Payload eventId={delivery.eventId} />}
    </div>
  )
}

/** The payload byte for byte: it is taken from the text of the response. */
function Payload({ eventId }: { eventId: string }): JSX.Element {
  const { readText, words: { t } } = usePortal()
  const event = useRead(
    ['event', eventId],
    (signal) => readText(`/events/${eventId}`, signal),
    { every: false },
  )
  return (
    <Read of={event}>
      {(text) => <Json text={memberText(text, 'payload') ?? ''} name={t('payload')} />}
    </Read>
  )
}
