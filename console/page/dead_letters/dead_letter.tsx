/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { api, asFailure } from '../app/api.ts'
import { useLive } from '../app/data.ts'
import { visible } from '../app/format.ts'
import { may } from '../app/session.ts'
import { ActionButton } from '../parts/action.tsx'
import { CopyCommands } from '../parts/copy_commands.tsx'
import { JsonView } from '../parts/json_view.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Read } from '../parts/state.tsx'
import { DeadLetterBadge } from '../parts/status.tsx'
import { EndpointName, Fact, Foreign, Time } from '../parts/value.tsx'
import { timesOf } from '../events/explain.ts'
import { Discard } from './discard.tsx'

type Letter = Output<'getDeadLetter'>

/** One dead letter, with its body and the reason of its failure. */
export function DeadLetterPage({ id }: { id: string }): JSX.Element {
  const letter = useLive(
    ['dead-letter', id],
    (signal) => api.getDeadLetter({ path: { deadLetterId: id }, signal }),
  )
  const isMissing = letter.isError && [400, 404].includes(asFailure(letter.error).status)
  if (isMissing && letter.data === undefined) {
    return (
      <Empty isPage title='There is no such dead letter'>
        <p>
          <Link to='/dead-letters'>All dead letters</Link>
        </p>
      </Empty>
    )
  }
  return <Read of={letter}>{(one) => <Details letter={one} />}</Read>
}

function Details({ letter }: { letter: Letter }): JSX.Element {
  const path = { deadLetterId: letter.id }
  return (
    <>
      <nav class='trail' aria-label='Trail'>
        <Link to='/dead-letters'>Dead letters</Link>
      </nav>
      <div class='page-head'>
        <h1>
          <Foreign text={letter.eventType} />
        </h1>
        <DeadLetterBadge status={letter.status} />
        <CopyCommands
          id={letter.id}
          path={`/dead-letters/${letter.id}`}
          sql={`select * from outbox.dead_letter where id = '${letter.id}';`}
        />
      </div>
      <div class='finding bad'>
        <p>
          <strong>{visible(letter.error)}</strong> It failed {timesOf(letter.retryCount)}:{' '}
          {visible(letter.why.replaceAll('_', ' '))}.
        </p>
      </div>
      <div class='row'>
        {may('deliveries:replay') && (
          <ActionButton
            label='Replay'
            main
            act={() => api.replayDeadLetter({ path })}
          />
        )}
        {letter.status === 'open' && may('deliveries:cancel') && <Discard letters={[letter]} />}
        <Link to={`/events/${letter.eventId}`} class='button'>Event and attempts</Link>
      </div>
      <dl class='facts'>
        <Fact name='Endpoint'>
          <EndpointName id={letter.endpointId} />
        </Fact>
        <Fact name='Failed'>
          <Time at={letter.failedAt} />
        </Fact>
        <Fact name='Published'>
          <Time at={letter.eventCreatedAt} />
        </Fact>
        <Fact name='Correlation id'>
          <Foreign text={letter.correlationId} mono />
        </Fact>
        {letter.replayedAt !== null && (
          <Fact name='Replayed'>
            <Time at={letter.replayedAt} />
          </Fact>
        )}
        {letter.deliveredAt !== null && (
          <Fact name='Delivered'>
            <Time at={letter.deliveredAt} />
          </Fact>
        )}
        {letter.discardedAt !== null && (
          <Fact name='Discarded'>
            <Time at={letter.discardedAt} />
          </Fact>
        )}
        {letter.note !== null && (
          <Fact name='Reason'>
            <Foreign text={letter.note} />
          </Fact>
        )}
      </dl>
      <section class='card' aria-label='Body'>
        <h2>Body</h2>
        <JsonView text={letter.body} name='As it was published' />
      </section>
    </>
  )
}
