/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { api, asFailure } from '../app/api.ts'
import { count, visible } from '../app/format.ts'
import { Link } from '../parts/link.tsx'
import { Badge, Foreign, Time } from '../parts/value.tsx'

type Trial = Output<'tryFilter'>

/** Shown of the events that were tried. */
const shownEvents = 10

/** Says which of the newest events a filter would let through, before it is saved. */
export function FilterTrial({ filter, eventTypes }: {
  filter: string
  eventTypes: string[]
}): JSX.Element | null {
  const [trial, setTrial] = useState<Trial | null>(null)
  const [error, setError] = useState<string | null>(null)
  const [isRunning, setRunning] = useState(false)
  const tried = `${filter} ${eventTypes.join(' ')}`
  // The result of another filter would mislead.
  useEffect(() => {
    setTrial(null)
    setError(null)
  }, [tried])
  if (filter.trim() === '') return null
  const run = async (): Promise<void> => {
    setRunning(true)
    try {
      const body = eventTypes.length === 0 ? { filter } : { filter, eventTypes }
      setTrial(await api.tryFilter({ body }))
      setError(null)
    } catch (failure) {
      const { message, remedy } = asFailure(failure)
      setError(remedy === null ? `${message}.` : `${message}. ${remedy}.`)
      setTrial(null)
    } finally {
      setRunning(false)
    }
  }
  return (
    <div class='stack trial'>
      <div class='row'>
        <button type='button' disabled={isRunning} onClick={() => void run()}>
          {isRunning ? 'Trying …' : 'Try on recent events'}
        </button>
      </div>
      {error !== null && <p class='field-error' role='alert'>{visible(error)}</p>}
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
          ? 'No event of these types is stored, so there is nothing to try the filter on.'
          : 'None of the newest 5,000 events has one of these types.'}
      </p>
    )
  }
  return (
    <>
      <p role='status'>
        <strong>
          {matched} of {count(tried, 'event')} would be sent.
        </strong>{' '}
        {failed > 0 && `The filter fails for ${count(failed, 'event')}, which would not be sent. `}
        {!isWhole && 'These are the newest.'}
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
