/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { visible } from '../app/format.ts'
import { Ago } from '../parts/value.tsx'
import { AttemptStep, type Context } from './attempt_step.tsx'
import { timelineRows } from './timeline_rows.ts'
import { Step } from './timeline_step.tsx'

type Attempt = Output<'listAttempts'>['data'][number]

/** What happened to a delivery, in the order of time, and what happens next. */
export function Timeline({ attempts, isCut, ...of }: Context & {
  attempts: Attempt[]
  /** Whether there are later attempts than these. */
  isCut: boolean
}): JSX.Element {
  const { delivery, event } = of
  return (
    <ol class='timeline' aria-label='Timeline'>
      <Step tone='quiet' at={event.createdAt} title='Published' />
      <Step tone='quiet' title='Routed' />
      {timelineRows(attempts, delivery.status).map((row) =>
        row.kind === 'replay' ? <Step key={row.key} tone='info' title='Replayed' /> : (
          <AttemptStep
            key={`${row.attempt.attempt} ${row.attempt.kind} ${row.attempt.at}`}
            attempt={row.attempt}
            of={of}
          />
        )
      )}
      {isCut && <Step tone='quiet' title='The later attempts are not shown' />}
      <Next delivery={delivery} />
    </ol>
  )
}

/** What happens next. */
function Next({ delivery }: { delivery: Context['delivery'] }): JSX.Element | null {
  const { status, attempt, reason, nextAttemptAt } = delivery
  if (status === 'processing') {
    return <Step tone='info' title={`Claimed for attempt ${attempt}`} />
  }
  if (status === 'held') {
    return <Step tone='warn' title={`Held${reason === null ? '' : `: ${visible(reason)}`}`} />
  }
  if (status === 'pending' && nextAttemptAt === null) {
    return <Step tone='info' title='Waits to be claimed' />
  }
  if ((status !== 'retrying' && status !== 'pending') || nextAttemptAt === null) return null
  const isDue = Date.parse(nextAttemptAt) <= Date.now()
  const name = attempt === 0 ? 'First attempt' : 'Next attempt'
  return (
    <Step
      tone='info'
      title={isDue ? `${name}: due, waits to be claimed` : (
        <>
          {name} <Ago at={nextAttemptAt} />
        </>
      )}
    />
  )
}
