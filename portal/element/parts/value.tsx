/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { visible } from '../../../console/page/app/format.ts'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { useNow } from '../app/data.ts'
import type { TextKey } from '../app/words.ts'

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'quiet'

/** Text that others wrote. */
export function Foreign({ text }: { text: string }): JSX.Element {
  return <bdi class='foreign'>{visible(text)}</bdi>
}

/** A time in the zone of the browser; the title has it in UTC. */
export function Time({ at }: { at: string }): JSX.Element {
  return <time dateTime={at} title={at}>{usePortal().words.time(at)}</time>
}

/** How long ago, or how long until. */
export function Ago({ at }: { at: string }): JSX.Element {
  return <time dateTime={at} title={at}>{usePortal().words.relative(at, useNow())}</time>
}

/** A status, told by its word; the colour only helps. */
export function Badge({ tone, children }: {
  tone: Tone
  children: ComponentChildren
}): JSX.Element {
  return <span class={`badge ${tone}`} part='badge'>{children}</span>
}

type Endpoint = Pick<Output<'getEndpoint'>, 'status' | 'breaker'>

/** The status of an endpoint; an open breaker matters more than that it is enabled. */
export function EndpointBadge({ endpoint: { status, breaker } }: {
  endpoint: Endpoint
}): JSX.Element {
  const { t } = usePortal().words
  if (status === 'disabled') return <Badge tone='bad'>{t('disabled')}</Badge>
  if (status === 'paused') return <Badge tone='warn'>{t('paused')}</Badge>
  if (breaker.status === 'open' || breaker.status === 'half_open') {
    return <Badge tone='bad'>{t('failing')}</Badge>
  }
  return <Badge tone='good'>{t('enabled')}</Badge>
}

type DeliveryStatus = Output<'getDelivery'>['status']

/** The tone of each status, and the key of its name. */
export const deliveryStatuses: Record<DeliveryStatus, readonly [Tone, TextKey]> = {
  pending: ['info', 'pending'],
  processing: ['info', 'processing'],
  retrying: ['warn', 'retrying'],
  held: ['warn', 'held'],
  delivered: ['good', 'delivered'],
  dead_letter: ['bad', 'failedStatus'],
  cancelled: ['quiet', 'cancelled'],
  expired: ['bad', 'expired'],
  filter_error: ['bad', 'filterError'],
  event_missing: ['bad', 'eventMissing'],
}

export function DeliveryBadge({ status }: { status: DeliveryStatus }): JSX.Element {
  const [tone, key] = deliveryStatuses[status]
  return <Badge tone={tone}>{usePortal().words.t(key)}</Badge>
}

/** The address of an endpoint, or its kind if it has none. */
export function addressOf({ url, kind }: Pick<Output<'getEndpoint'>, 'url' | 'kind'>): string {
  return url === '' ? kind : url
}
