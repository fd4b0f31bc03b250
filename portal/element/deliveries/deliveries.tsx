/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { usePages } from '../app/pages.ts'
import { Go } from '../parts/go.tsx'
import { More } from '../parts/more.tsx'
import { Read } from '../parts/state.tsx'
import { isoOf, TimeField } from '../parts/time_field.tsx'
import { Ago, DeliveryBadge, deliveryStatuses, Foreign } from '../parts/value.tsx'
import { TypeFilter, useTypeFilter } from './type_filter.tsx'

type Delivery = Output<'getDelivery'>
type Status = Delivery['status']

// SAFETY: the keys of the table are its type's keys.
const statuses = (Object.keys(deliveryStatuses) as Status[]).filter((one) =>
  one !== 'event_missing'
)

/** What an endpoint got, newest first. */
export function DeliveriesOf({ endpointId }: { endpointId: string }): JSX.Element {
  const { words: { t } } = usePortal()
  const [status, setStatus] = useState<Status | ''>('')
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const types = useTypeFilter()
  return (
    <section aria-label={t('deliveries')}>
      <div class='row filters'>
        <label class='field'>
          {t('status')}
          <select
            part='input'
            value={status}
            // SAFETY: the options are the statuses.
            onChange={(event) => setStatus(event.currentTarget.value as Status | '')}
          >
            <option value=''>{t('all')}</option>
            {statuses.map((one) => (
              <option key={one} value={one}>{t(deliveryStatuses[one][1])}</option>
            ))}
          </select>
        </label>
        <TypeFilter of={types} />
        <TimeField label={t('publishedFrom')} value={from} onTime={setFrom} />
        <TimeField label={t('publishedBefore')} value={to} onTime={setTo} />
      </div>
      {types.isMissing
        ? <p class='empty'>{t('typeMissing')}</p>
        : <List {...{ endpointId, status, from, to }} type={types.type} />}
    </section>
  )
}

function List({ endpointId, status, type, from, to }: {
  endpointId: string
  status: Status | ''
  type: string
  /** The times of publication, as the fields have them. */
  from: string
  to: string
}): JSX.Element {
  const { client, words: { t } } = usePortal()
  const deliveries = usePages(
    ['deliveries', endpointId, status, type, from, to],
    (cursor, signal) =>
      client.listDeliveries({
        query: {
          endpointId,
          ...status === '' ? {} : { status },
          ...type === '' ? {} : { eventType: type },
          ...from === '' ? {} : { from: isoOf(from) },
          ...to === '' ? {} : { to: isoOf(to) },
          ...cursor === null ? {} : { cursor },
        },
        signal,
      }),
  )
  const isAll = [status, type, from, to].every((one) => one === '')
  return (
    <Read of={deliveries}>
      {(rows) =>
        rows.length === 0 && !deliveries.hasMore
          ? <p class='empty'>{t(isAll ? 'noDeliveries' : 'noneFound')}</p>
          : (
            <>
              <Table rows={rows} />
              <More of={deliveries} n={rows.length} />
            </>
          )}
    </Read>
  )
}

function Table({ rows }: { rows: Delivery[] }): JSX.Element {
  const { words: { n, t } } = usePortal()
  return (
    <div class='table-box'>
      <table part='table'>
        <caption class='hidden'>{t('deliveries')}</caption>
        <thead>
          <tr>
            <th scope='col'>{t('eventType')}</th>
            <th scope='col'>{t('status')}</th>
            <th scope='col' class='num'>{t('attempts')}</th>
            <th scope='col'>{t('published')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((one) => (
            <tr key={one.id}>
              <td>
                <Go to={`deliveries/${one.id}`}>
                  <Foreign text={one.eventType} />
                </Go>
              </td>
              <td>
                <DeliveryBadge status={one.status} />
              </td>
              <td class='num'>{n(one.attempt)}</td>
              <td class='nowrap'>
                <Ago at={one.createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
