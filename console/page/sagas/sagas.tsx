/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { api, asFailure } from '../app/api.ts'
import { useLive } from '../app/data.ts'
import { navigate } from '../app/location.ts'
import { CopyCommands } from '../parts/copy_commands.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Read } from '../parts/state.tsx'
import { Badge, EndpointName, Foreign, Time } from '../parts/value.tsx'

/** The sagas with their steps, and a way to the log of an execution. */
export function SagasPage(): JSX.Element {
  const sagas = useLive(['sagas'], (signal) => api.listSagas({ signal }))
  return (
    <>
      <div class='page-head'>
        <h1>Sagas</h1>
        <CopyCommands path='/sagas' />
      </div>
      <FindExecution />
      <Read of={sagas}>
        {({ data }) =>
          data.length === 0
            ? (
              <Empty title='No saga is defined'>
                <p>A saga runs several SQL functions as one transaction, each with its event.</p>
              </Empty>
            )
            : data.map((one) => (
              <section key={one.name} class='card' aria-label={one.name}>
                <div class='card-head'>
                  <h2>
                    <Foreign text={one.name} />
                  </h2>
                  {one.byTokens && <Badge tone='info'>tokens may execute it</Badge>}
                </div>
                <ol class='schedule pairs'>
                  {one.steps.map((step, i) => (
                    <li key={i}>
                      <code>
                        <Foreign text={step.function} />
                      </code>
                      <code class='type'>
                        <Foreign text={step.eventType} />
                      </code>
                    </li>
                  ))}
                </ol>
              </section>
            ))}
      </Read>
    </>
  )
}

function FindExecution(): JSX.Element {
  const [id, setId] = useState('')
  const open = (event: Event): void => {
    event.preventDefault()
    if (id.trim() !== '') navigate(`/sagas/${encodeURIComponent(id.trim())}`)
  }
  return (
    <form class='filters' onSubmit={open}>
      <label class='field grow'>
        Id of an execution
        <input
          value={id}
          maxLength={36}
          spellcheck={false}
          data-search=''
          onInput={(event) => setId(event.currentTarget.value)}
        />
      </label>
      <button type='submit'>Open</button>
    </form>
  )
}

/** The log of an execution: its steps, and what became of their events. */
export function SagaExecutionPage({ id }: { id: string }): JSX.Element {
  const executionId = id
  const execution = useLive(
    ['saga-execution', executionId],
    (signal) => api.getSagaExecution({ path: { executionId }, signal }),
  )
  if (execution.isError && [400, 404].includes(asFailure(execution.error).status)) {
    return (
      <Empty isPage title='There is no such execution'>
        <p>
          <Link to='/sagas'>All sagas</Link>
        </p>
      </Empty>
    )
  }
  return (
    <Read of={execution}>
      {({ executedAt, steps }) => (
        <>
          <nav class='trail' aria-label='Trail'>
            <Link to='/sagas'>Sagas</Link>
          </nav>
          <div class='page-head'>
            <h1>Execution</h1>
            <span class='quiet'>
              <Time at={executedAt} />
            </span>
            <CopyCommands id={id} path={`/saga-executions/${id}`} />
          </div>
          {steps.map((step) => (
            <section key={step.eventId} class='card' aria-label={step.eventType}>
              <h2>
                <Link to={`/events/${step.eventId}`}>
                  <Foreign text={step.eventType} />
                </Link>
              </h2>
              <ul class='plain-list'>
                {step.deliveries.map(({ endpointId, status }) => (
                  <li key={endpointId ?? ''} class='row'>
                    {endpointId === null
                      ? 'No endpoint was subscribed'
                      : <EndpointName id={endpointId} />}
                    <Badge tone={toneOf(status)}>{status.replaceAll('_', ' ')}</Badge>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </>
      )}
    </Read>
  )
}

function toneOf(status: string): 'good' | 'bad' | 'info' | 'quiet' {
  if (status === 'delivered') return 'good'
  if (['dead_letter', 'expired', 'filter_error', 'event_missing'].includes(status)) return 'bad'
  return ['no_subscriber', 'cancelled'].includes(status) ? 'quiet' : 'info'
}
