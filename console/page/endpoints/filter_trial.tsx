/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { useTrial } from '../../../portal/element/endpoints/trial.ts'
import { api } from '../app/api.ts'
import { count } from '../app/format.ts'
import { Link } from '../parts/link.tsx'
import { Problem } from '../parts/state.tsx'
import { Badge, Foreign, Time } from '../parts/value.tsx'

type Trial = Output<'tryFilter'>

/** Shown of the events that were tried. */
const shownEvents = 10

/** Says which of the newest events a filter would let through, before it is saved. */
export function FilterTrial({ filter, eventTypes }: {
  filter: string
  eventTypes: string[]
}): JSX.Element | null {
  const { isRunning, trial, error, run } = useTrial(api, filter, eventTypes)
  if (filter.trim() === '') return null
  return (
    <div class='stack trial'>
      <div class='row'>
        <button type='button' disabled={isRunning} onClick={() => void run()}>
          {isRunning ? 'Trying …' : 'Try on recent events'}
        </button>
      </div>
      {error !== null && <Problem error={error} />}
      {trial !== null && <Result trial={trial} />}
    </div>
  )
}

function Result({ trial }: { trial: Trial }): JSX.Element {
  const { tried, matched, failed, isWhole, data } = trial
  if (tried === 0) {
    return (
      <p role='status'>
        {isWhole
          ? 'There is no event of these types to try the filter on.'
          : 'None of the newest 5,000 events has one of these types.'}
      </p>
    )
  }
  return (
    <>
      <p role='status'>
        <strong>
          {matched} of the newest {count(tried, 'event')} of these types would be sent.
        </strong>{' '}
        {failed > 0 && `The filter fails for ${count(failed, 'event')}, which would not be sent. `}
      </p>
      <ul class='plain-list trial-list'>
        {data.slice(0, shownEvents).map((one) => (
          <li key={one.id} class='row tight'>
            <Badge tone={one.problem !== null ? 'bad' : one.matches ? 'good' : 'quiet'}>
              {one.problem !== null ? 'fails' : one.matches ? 'sent' : 'left out'}
            </Badge>
            <Link to={`/events/${one.id}`}>
              <Foreign text={one.type} />
            </Link>
            <span class='quiet'>
              <Time at={one.createdAt} />
            </span>
            {one.problem !== null && <Foreign text={one.problem} />}
          </li>
        ))}
      </ul>
    </>
  )
}
