/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { useEndpoint } from '../app/data.ts'
import { span, visible } from '../app/format.ts'
import { may } from '../app/session.ts'
import { Link } from '../parts/link.tsx'
import { Badge, Foreign, Time } from '../parts/value.tsx'
import { errorHints } from './explain.ts'
import { rebuildRequest, sentAt } from './rebuilt_request.ts'
import { Step } from './timeline_step.tsx'

type Attempt = Output<'listAttempts'>['data'][number]

/** What an attempt belongs to. */
export interface Context {
  delivery: Output<'getDelivery'>
  event: Output<'getEvent'>
  /** The payload as it was published; null if it is not stored. */
  payload: string | null
}

const closes: Readonly<Record<string, string>> = {
  delivered: 'Delivered',
  dead_letter: 'Became a dead letter',
  cancelled: 'Cancelled',
  expired: 'Expired',
  filter_error: 'The filter failed',
  no_subscriber: 'No endpoint was subscribed',
  event_missing: 'The event was deleted',
}

/** An attempt with its request and response, or an end without one. */
export function AttemptStep({ attempt, of }: { attempt: Attempt; of: Context }): JSX.Element {
  return attempt.kind === 'close'
    ? <End attempt={attempt} of={of} />
    : <Tried attempt={attempt} of={of} />
}

function End({ attempt, of }: { attempt: Attempt; of: Context }): JSX.Element {
  const tone = attempt.outcome === 'delivered'
    ? 'good'
    : attempt.outcome === 'cancelled'
    ? 'quiet'
    : 'bad'
  return (
    <Step tone={tone} at={attempt.at} title={closes[attempt.outcome] ?? attempt.outcome}>
      {attempt.error !== null && (
        <p>
          <Foreign text={attempt.error} />
        </p>
      )}
      {attempt.outcome === 'dead_letter' && (
        <p>
          <Link
            to={`/dead-letters?status=any&endpoint=${of.delivery.endpointId}&q=${of.event.type}`}
          >
            Dead letters of this type and endpoint
          </Link>
        </p>
      )}
    </Step>
  )
}

function Tried({ attempt, of }: { attempt: Attempt; of: Context }): JSX.Element {
  const isGood = attempt.outcome === 'delivered'
  const sent = sentAt(attempt)
  const hint = attempt.errorClass === null ? undefined : errorHints[attempt.errorClass]
  return (
    <Step
      tone={isGood ? 'good' : 'bad'}
      at={attempt.at}
      title={`Attempt ${attempt.attempt} ${isGood ? 'was delivered' : 'failed'}`}
    >
      <p class='row tight'>
        {attempt.status !== null && (
          <Badge tone={isGood ? 'good' : 'bad'}>HTTP {attempt.status}</Badge>
        )}
        {attempt.errorClass !== null && attempt.errorClass !== 'status' && (
          <Badge tone='bad'>{visible(attempt.errorClass)}</Badge>
        )}
        {attempt.durationMs !== null && (
          <span class='quiet'>
            {sent !== null && (
              <>
                sent about <Time at={sent} />,{' '}
              </>
            )}
            took {span(attempt.durationMs)}
          </span>
        )}
        {attempt.resent && <span class='quiet'>sent twice: the first connection was closed</span>}
      </p>
      {attempt.error !== null && (
        <p>
          <Foreign text={attempt.error} />
        </p>
      )}
      {hint !== undefined && <p class='quiet'>{hint}.</p>}
      {attempt.nextRetryAt !== null && (
        <p class='quiet'>
          The next attempt was set for <Time at={attempt.nextRetryAt} />.
        </p>
      )}
      {may('endpoints:read') && <Request attempt={attempt} of={of} />}
      {attempt.response !== null && attempt.response !== '' && (
        <details>
          <summary>Response{attempt.responseCut ? ', the start of it' : ''}</summary>
          <pre class='response' tabIndex={0} aria-label='Response'>{visible(attempt.response)}</pre>
        </details>
      )}
    </Step>
  )
}

function Request({ attempt, of }: { attempt: Attempt; of: Context }): JSX.Element | null {
  const endpoint = useEndpoint(of.delivery.endpointId).data
  if (endpoint === undefined) return null
  const { event, payload } = of
  const rebuilt = rebuildRequest({ endpoint, event, payload, attempt })
  return (
    <details>
      <summary>Request{'text' in rebuilt && rebuilt.isCut ? ', the start of it' : ''}</summary>
      {'why' in rebuilt ? <p class='quiet'>{rebuilt.why}</p> : (
        <>
          <p class='quiet'>
            Rebuilt from the event and version {endpoint.version}{' '}
            of the endpoint, with which it was sent. These headers are left out: user-agent,
            webhook-timestamp, x-timestamp, x-attempt, x-signature, traceparent. The signature and
            the values of custom headers are not shown.
          </p>
          <pre class='response' tabIndex={0} aria-label='Request'>{rebuilt.text}</pre>
        </>
      )}
    </details>
  )
}
