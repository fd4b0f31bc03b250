/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { count, number } from '../app/format.ts'
import { listPath } from '../app/list_path.ts'
import { setQuery, usePlace } from '../app/location.ts'
import { may } from '../app/session.ts'
import { Choice, TextFilter } from '../parts/filters.tsx'
import { Link } from '../parts/link.tsx'
import { PagedTable, usePages } from '../parts/pages.tsx'
import { SpanFilter, useSpan } from '../parts/span.tsx'
import { Empty } from '../parts/state.tsx'
import { DeadLetterBadge } from '../parts/status.tsx'
import { EndpointName, Foreign, Time } from '../parts/value.tsx'
import { searchProblem } from '../events/search_text.ts'
import { Discard } from './discard.tsx'
import { DeadLetterGroups } from './groups.tsx'
import { ReplayAll } from './replay_all.tsx'
import { ReplaySome } from './replay_some.tsx'

type DeadLetter = Output<'listDeadLetters'>['data'][number]

const statusChoices = [
  ['', 'Open'],
  ['replayed', 'Replayed'],
  ['delivered', 'Delivered later'],
  ['discarded', 'Discarded'],
  ['any', 'Any status'],
] as const

/** The deliveries that failed for good, and what to do with them. */
export function DeadLettersPage(): JSX.Element {
  return usePlace().query.get('view') === 'groups'
    ? (
      <>
        <div class='page-head'>
          <h1>Dead letters</h1>
          <Views isGroups />
        </div>
        <DeadLetterGroups />
      </>
    )
    : <DeadLetterList />
}

/** All one by one, or those that wait for a decision in groups. */
function Views({ isGroups = false }: { isGroups?: boolean }): JSX.Element {
  return (
    <div class='segments' role='group' aria-label='What the list shows'>
      <button type='button' aria-pressed={!isGroups} onClick={() => setQuery({ view: null })}>
        One by one
      </button>
      <button
        type='button'
        aria-pressed={isGroups}
        onClick={() =>
          setQuery({ view: 'groups', q: null, status: null, endpoint: null, error: null })}
      >
        By error
      </button>
    </div>
  )
}

function DeadLetterList(): JSX.Element {
  const { query } = usePlace()
  const status = query.get('status') ?? 'open'
  const endpointId = query.get('endpoint')
  const eventType = query.get('q')
  const error = query.get('error')
  const span = useSpan()
  const problem = searchProblem('type', eventType ?? '') ?? span.problem
  const filters = () => ({
    // SAFETY: the API refuses another status, and the page shows its error.
    ...status === 'any' ? {} : { status: status as DeadLetter['status'] },
    ...endpointId === null ? {} : { endpointId },
    ...eventType === null ? {} : { eventType },
    ...error === null ? {} : { error },
    ...span.now(),
  })
  const letters = usePages(
    ['dead-letters', status, endpointId, eventType, error, span.key],
    (cursor, signal) =>
      api.listDeadLetters({
        query: { ...filters(), ...cursor === null ? {} : { cursor } },
        signal,
      }),
    problem === null,
  )
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const shown = letters.data ?? []
  const selected = shown.filter(({ id, status: now }) => chosen.has(id) && now === 'open')
  const selectable = shown.filter(({ status: now }) => now === 'open')
  const select = (id: string, isOn: boolean): void => {
    const next = new Set(chosen)
    if (isOn) next.add(id)
    else next.delete(id)
    setChosen(next)
  }
  return (
    <>
      <div class='page-head'>
        <h1>Dead letters</h1>
        <Views />
        {status === 'open' && (shown.length > 0 || letters.hasMore) && may('deliveries:replay') && (
          <ReplayAll {...{ endpointId, eventType, error }} span={span.now} />
        )}
      </div>
      <div class='filters' role='search'>
        <TextFilter name='q' label='Event type' hint='order.paid' search />
        <Choice name='status' label='Status' choices={statusChoices} />
        <SpanFilter label='Failed' />
      </div>
      {endpointId !== null && (
        <p class='chip'>
          Only of <EndpointName id={endpointId} />
          <button type='button' class='plain' onClick={() => setQuery({ endpoint: null })}>
            Show all endpoints
          </button>
        </p>
      )}
      {error !== null && (
        <p class='chip'>
          <span>
            Only with the error <Foreign text={error} />
          </span>
          <button type='button' class='plain' onClick={() => setQuery({ error: null })}>
            Show all errors
          </button>
        </p>
      )}
      {selected.length > 0 && (
        <div class='selection' role='status'>
          <span>{count(selected.length, 'dead letter')} selected</span>
          {may('deliveries:replay') && (
            <ReplaySome
              letters={selected}
              done={() => setChosen(new Set())}
            />
          )}
          {may('deliveries:cancel') && (
            <Discard
              letters={selected}
              done={() => setChosen(new Set())}
            />
          )}
          <button type='button' class='plain' onClick={() => setChosen(new Set())}>
            Select none
          </button>
        </div>
      )}
      {problem !== null ? <p class='hint' role='status'>{problem}</p> : (
        <PagedTable
          of={letters}
          caption='Dead letters'
          path={listPath('/dead-letters', filters())}
          first={maySelect() && selectable.length > 0
            ? (
              <input
                type='checkbox'
                aria-label={`Select all ${number(selectable.length)} that are shown`}
                checked={selected.length === selectable.length}
                onChange={({ currentTarget: { checked } }) =>
                  setChosen(new Set(checked ? selectable.map(({ id }) => id) : []))}
              />
            )
            : undefined}
          head={['Select', 'Failed', 'Type', 'Endpoint', 'Error', 'Attempts', 'Status']}
          row={(letter) => (
            <Row
              key={letter.id}
              letter={letter}
              isChosen={chosen.has(letter.id)}
              select={(isOn) => select(letter.id, isOn)}
            />
          )}
          empty={
            <Empty title='There is no dead letter here'>
              <p>
                A delivery becomes a dead letter when no retry is left, or when its endpoint refuses
                it for good. It is stored until somebody replays or discards it.
              </p>
            </Empty>
          }
        />
      )}
    </>
  )
}

function maySelect(): boolean {
  return may('deliveries:replay') || may('deliveries:cancel')
}

function Row({ letter, isChosen, select }: {
  letter: DeadLetter
  isChosen: boolean
  select(isOn: boolean): void
}): JSX.Element {
  return (
    <tr>
      <td>
        {letter.status === 'open' && maySelect() && (
          <input
            type='checkbox'
            checked={isChosen}
            aria-label={`Select the dead letter of ${letter.eventType}`}
            onChange={(event) => select(event.currentTarget.checked)}
          />
        )}
      </td>
      <td class='nowrap'>
        <Time at={letter.failedAt} />
      </td>
      <td>
        <Link to={`/dead-letters/${letter.id}`} row class='strong'>
          <Foreign text={letter.eventType} />
        </Link>
      </td>
      <td>
        <EndpointName id={letter.endpointId} />
      </td>
      <td class='error-text'>
        <Foreign text={letter.error} />
      </td>
      <td class='num'>{letter.attempt}</td>
      <td>
        <DeadLetterBadge status={letter.status} />
      </td>
    </tr>
  )
}
