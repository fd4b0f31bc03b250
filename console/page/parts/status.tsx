/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { Badge, type Tone } from './value.tsx'

type DeliveryStatus = Output<'getDelivery'>['status']
type DeadLetterStatus = Output<'getDeadLetter'>['status']
type EndpointStatus = Output<'getEndpoint'>['status']
type Breaker = NonNullable<Output<'getEndpoint'>['breaker']['status']>
type JobStatus = Output<'getReplayJob'>['status']

const deliveries: Record<DeliveryStatus, [Tone, string]> = {
  pending: ['info', 'pending'],
  processing: ['info', 'in flight'],
  retrying: ['warn', 'retrying'],
  held: ['warn', 'held'],
  delivered: ['good', 'delivered'],
  dead_letter: ['bad', 'dead letter'],
  cancelled: ['quiet', 'cancelled'],
  expired: ['bad', 'expired'],
  filter_error: ['bad', 'filter error'],
  event_missing: ['bad', 'event missing'],
}

const deadLetters: Record<DeadLetterStatus, Tone> = {
  open: 'bad',
  replayed: 'info',
  delivered: 'good',
  discarded: 'quiet',
}

const jobs: Record<JobStatus, Tone> = {
  running: 'info',
  paused: 'warn',
  done: 'good',
  cancelled: 'quiet',
}

export const deliveryStatuses = Object.keys(deliveries)

export function DeliveryBadge({ status }: { status: DeliveryStatus }): JSX.Element {
  const [tone, text] = deliveries[status]
  return <Badge tone={tone}>{text}</Badge>
}

export function DeadLetterBadge({ status }: { status: DeadLetterStatus }): JSX.Element {
  return <Badge tone={deadLetters[status]}>{status}</Badge>
}

export function JobBadge({ status }: { status: JobStatus }): JSX.Element {
  return <Badge tone={jobs[status]}>{status}</Badge>
}

/** The status of an endpoint; an open breaker matters more than that it is enabled. */
export function EndpointBadge(
  { status, breaker }: { status: EndpointStatus; breaker: Breaker | null },
): JSX.Element {
  if (status === 'disabled') return <Badge tone='bad'>disabled</Badge>
  if (status === 'paused') return <Badge tone='warn'>paused</Badge>
  if (breaker === 'open') return <Badge tone='bad'>breaker open</Badge>
  if (breaker === 'half_open') return <Badge tone='warn'>breaker half-open</Badge>
  return <Badge tone='good'>enabled</Badge>
}
