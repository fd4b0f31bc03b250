/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { span, visible } from '../app/format.ts'
import { Ago, Badge, Foreign, Time, type Tone } from '../parts/value.tsx'
import { errorHints } from './explain.ts'

type Attempt = Output<'listAttempts'>['data'][number]

/** What happened to a delivery, in the order of time, and what happens next. */
export function Timeline({ delivery, event, attempts, isCut }: {
  delivery: Output<'getDelivery'>
  event: Output<'getEvent'>
  attempts: Attempt[]
  /** Whether there are older attempts than these. */
  isCut: boolean
}): JSX.Element {
  const inOrder = [...attempts].sort((a, b) => a.attempt - b.attempt || a.at.localeCompare(b.at))
  return (
    <ol class='timeline' aria-label='Timeline'>
      <Step tone='quiet' at={event.createdAt} title='Published' />
      {isCut && <Step tone='quiet' title='Older attempts are not shown' />}
      {inOrder.map((attempt) => (
        <AttemptStep key={`${attempt.attempt} ${attempt.kind} ${attempt.at}`} attempt={attempt} />
      ))}
      {delivery.status === 'processing' && <Step tone='info' title='A request is in flight' />}
      {delivery.status === 'retrying' && delivery.nextAttemptAt !== null && (
        <Step
          tone='info'
          title={
            <>
              Next attempt <Ago at={delivery.nextAttemptAt} />
            </>
          }
        />
      )}
      {delivery.status === 'held' && (
        <Step
          tone='warn'
          title={`Held${delivery.reason === null ? '' : `: ${visible(delivery.reason)}`}`}
        />
      )}
    </ol>
  )
}

function Step({ tone, at, title, children }: {
  tone: Tone
  at?: string
  title: ComponentChildren
  children?: ComponentChildren
}): JSX.Element {
  return (
    <li class={`step ${tone}`}>
      <div class='step-head'>
        <strong>{title}</strong>
        {at !== undefined && (
          <span class='quiet'>
            <Time at={at} />
          </span>
        )}
      </div>
      {children}
    </li>
  )
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

function AttemptStep({ attempt }: { attempt: Attempt }): JSX.Element {
  const isGood = attempt.outcome === 'delivered'
  if (attempt.kind === 'close') {
    return (
      <Step
        tone={isGood ? 'good' : attempt.outcome === 'cancelled' ? 'quiet' : 'bad'}
        at={attempt.at}
        title={closes[attempt.outcome] ?? attempt.outcome}
      >
        {attempt.error !== null && (
          <p>
            <Foreign text={attempt.error} />
          </p>
        )}
      </Step>
    )
  }
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
        {attempt.durationMs !== null && <span class='quiet'>{span(attempt.durationMs)}</span>}
        {attempt.resent && <span class='quiet'>sent twice: the first connection was closed</span>}
      </p>
      {attempt.error !== null && (
        <p>
          <Foreign text={attempt.error} />
        </p>
      )}
      {hint !== undefined && <p class='quiet'>{hint}.</p>}
      {attempt.response !== null && attempt.response !== '' && (
        <details>
          <summary>Response{attempt.responseCut ? ', the start of it' : ''}</summary>
          <pre class='response' tabIndex={0} aria-label='Response'>{visible(attempt.response)}</pre>
        </details>
      )}
    </Step>
  )
}
