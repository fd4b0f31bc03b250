/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { everyMs, useLive } from '../app/data.ts'
import { count, number, visible } from '../app/format.ts'
import { Snippet } from '../overview/first_endpoint.tsx'
import { CopyCommands } from '../parts/copy_commands.tsx'
import { Empty, Read } from '../parts/state.tsx'
import { Ago, Badge, Foreign, Id, type Tone } from '../parts/value.tsx'

type Runs = Output<'listRuns'>
type Run = Runs['data'][number]

const tones: Record<Run['status'], Tone> = { live: 'good', draining: 'info', silent: 'bad' }

/** The live edge runs, and the workers. */
export function RunsPage(): JSX.Element {
  const runs = useLive(['runs'], (signal) => api.listRuns({ signal }), { every: everyMs.live })
  return (
    <>
      <div class='page-head'>
        <h1>Runs</h1>
        <CopyCommands path='/runs' sql='select outbox.list_runs();' />
      </div>
      <p class='hint'>
        An edge run is an invocation of the function{' '}
        <code>deliver</code>. It starts with a commit or a tick, and ends when nothing is left to
        do. A worker is a process on your own machine. Both deliver for the whole project, not for
        one organisation.
      </p>
      <Read of={runs}>
        {(found) => (
          <>
            {found.problems.map((problem) => (
              <p key={problem} class='problem'>{visible(problem)}.</p>
            ))}
            {found.data.length === 0 ? <NoRun /> : <List runs={found} />}
          </>
        )}
      </Read>
    </>
  )
}

function NoRun(): JSX.Element {
  return (
    <Empty title='No run is alive'>
      <p>
        This is normal if nothing is due: the next event starts an edge run. If work is due, the
        overview says what is wrong. To deliver without the function, start a worker:
      </p>
      <Snippet text='npx --no outhook worker' />
    </Empty>
  )
}

function List({ runs: { alive, data } }: { runs: Runs }): JSX.Element {
  return (
    <>
      <p role='status'>
        Alive: {count(alive.runs, 'edge run')} and {count(alive.workers, 'worker')}.
      </p>
      <div class='table-box' role='region' aria-label='Runs' tabIndex={0}>
        <table>
          <caption class='hidden'>Runs</caption>
          <thead>
            <tr>
              <th scope='col'>Kind</th>
              <th scope='col'>Status</th>
              <th scope='col'>Host</th>
              <th scope='col'>Version</th>
              <th scope='col' class='num'>In flight</th>
              <th scope='col' class='num'>Delivered in 60 s</th>
              <th scope='col'>Started</th>
              <th scope='col'>Seen</th>
            </tr>
          </thead>
          <tbody>{data.map((run) => <Row key={run.id} run={run} />)}</tbody>
        </table>
      </div>
    </>
  )
}

function Row({ run }: { run: Run }): JSX.Element {
  return (
    <tr>
      <td>
        {run.kind === 'worker' ? 'worker' : 'edge run'} <Id id={run.id} />
      </td>
      <td>
        <Badge tone={tones[run.status]}>{run.status}</Badge>
      </td>
      <td>
        {run.host !== null && <Foreign text={run.host} mono />}
        {run.pid !== null && (
          <span class='quiet'>
            {' '}
            process <Foreign text={run.pid} />
          </span>
        )}
      </td>
      <td>{run.version !== null && <Foreign text={run.version} />}</td>
      <td class='num'>{run.inFlight === null ? '' : number(run.inFlight)}</td>
      <td class='num'>{run.delivered === null ? '' : number(run.delivered)}</td>
      <td>
        <Ago at={run.startedAt} />
      </td>
      <td>
        <Ago at={run.seenAt} />
      </td>
    </tr>
  )
}
