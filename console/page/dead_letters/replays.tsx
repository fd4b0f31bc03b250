/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { api, asFailure } from '../app/api.ts'
import { everyMs, useLive } from '../app/data.ts'
import { count, number } from '../app/format.ts'
import { may } from '../app/session.ts'
import { ActionButton, Confirm } from '../parts/action.tsx'
import { CopyCommands } from '../parts/copy_commands.tsx'
import { Link } from '../parts/link.tsx'
import { PagedTable, usePages } from '../parts/pages.tsx'
import { Progress } from '../parts/progress.tsx'
import { Empty, Read } from '../parts/state.tsx'
import { JobBadge } from '../parts/status.tsx'
import { EndpointName, Fact, Time } from '../parts/value.tsx'
import { JobFilter } from './job_filter.tsx'
import { handledOf, sentOf, useJobTotal } from './job_total.ts'

type Job = Output<'getReplayJob'>

/** The jobs that replay many dead letters, and the backfills. */
export function ReplaysPage(): JSX.Element {
  const jobs = usePages(
    ['replays'],
    (cursor, signal) => api.listReplayJobs({ query: cursor === null ? {} : { cursor }, signal }),
  )
  return (
    <>
      <div class='page-head'>
        <h1>Replay jobs</h1>
      </div>
      <PagedTable
        of={jobs}
        caption='Replay jobs'
        path='/replay-jobs'
        head={['Started', 'Job', 'What', 'Endpoint', 'Sent', 'Skipped', 'Status']}
        row={(job) => (
          <tr key={job.id}>
            <td class='nowrap'>
              <Time at={job.createdAt} />
            </td>
            <td>
              <Link to={`/replays/${job.id}`} row class='strong'>Job {job.id}</Link>
            </td>
            <td>{sourceOf(job)}</td>
            <td>{job.endpointId === null ? 'all' : <EndpointName id={job.endpointId} />}</td>
            <td class='num'>{number(sentOf(job))}</td>
            <td class='num'>{number(job.skipped)}</td>
            <td>
              <JobBadge status={job.status} />
            </td>
          </tr>
        )}
        empty={
          <Empty title='No job was started yet'>
            <p>
              A job replays all dead letters that match a filter. Start one from the{' '}
              <Link to='/dead-letters'>dead letters</Link>.
            </p>
          </Empty>
        }
      />
    </>
  )
}

function sourceOf({ source }: Job): string {
  return source === 'dead_letters' ? 'dead letters' : `backfill of ${source}`
}

/** One job: its progress, and how to stop it. */
export function ReplayPage({ id }: { id: string }): JSX.Element {
  const job = useLive(
    ['replay', id],
    (signal) => api.getReplayJob({ path: { replayJobId: id }, signal }),
    { everyOf: (value) => isOpen(value) ? 1000 : everyMs.slow },
  )
  const isMissing = job.isError && [400, 404].includes(asFailure(job.error).status)
  if (isMissing && job.data === undefined) {
    return (
      <Empty isPage title='There is no such job'>
        <p>
          <Link to='/replays'>All replay jobs</Link>
        </p>
      </Empty>
    )
  }
  return <Read of={job}>{(one) => <Details job={one} />}</Read>
}

function isOpen(job: Job | undefined): boolean {
  return job === undefined || job.status === 'running' || job.status === 'paused'
}

function Details({ job }: { job: Job }): JSX.Element {
  const path = { replayJobId: job.id }
  const [isCancelling, setCancelling] = useState(false)
  const total = useJobTotal(job)
  const handled = handledOf(job)
  const mayReplay = may('deliveries:replay')
  return (
    <>
      <nav class='trail' aria-label='Trail'>
        <Link to='/replays'>Replay jobs</Link>
      </nav>
      <div class='page-head'>
        <h1>Job {job.id}</h1>
        <JobBadge status={job.status} />
        <CopyCommands
          path={`/replay-jobs/${job.id}`}
          sql={`select * from outbox.replay_job where id = ${job.id};`}
        />
      </div>
      <section class='card' aria-label='Progress'>
        <JobProgress job={job} handled={handled} total={total} />
        <p aria-live='polite'>{sentenceOf(job)}</p>
        <div class='row'>
          {job.status === 'running' && mayReplay && (
            <ActionButton
              label='Pause'
              act={() => api.pauseReplayJob({ path })}
            />
          )}
          {job.status === 'paused' && mayReplay && (
            <ActionButton
              label='Resume'
              main
              act={() => api.resumeReplayJob({ path })}
            />
          )}
          {isOpen(job) && mayReplay && (
            <button
              type='button'
              class='danger'
              onClick={() => setCancelling(true)}
            >
              Cancel the job
            </button>
          )}
          <Link to='/events?view=deliveries' class='button'>Deliveries</Link>
        </div>
        {isCancelling && (
          <Confirm
            title={`Cancel job ${job.id}?`}
            label='Cancel the job'
            danger
            typed={job.id}
            act={() => api.cancelReplayJob({ path })}
            onClose={() => setCancelling(false)}
          >
            <p>
              {leftText(job, total)}{' '}
              What was sent stays sent. A cancelled job cannot be resumed: to stop it for a while,
              pause it.
            </p>
          </Confirm>
        )}
      </section>
      <dl class='facts'>
        <Fact name='What'>{sourceOf(job)}</Fact>
        <Fact name='Endpoint'>
          {job.endpointId === null ? 'all' : <EndpointName id={job.endpointId} />}
        </Fact>
        <JobFilter job={job} />
        <Fact name='Rate'>{number(job.ratePerSecond)} a second</Fact>
        <Fact name='Started'>
          <Time at={job.createdAt} />
        </Fact>
        {job.finishedAt !== null && (
          <Fact name='Ended'>
            <Time at={job.finishedAt} />
          </Fact>
        )}
      </dl>
    </>
  )
}

/** What is not sent if the job ends now. */
function leftText(job: Job, total: number | null): string {
  if (job.source === 'events') return 'The events that it has not reached are not sent.'
  if (total === null) return 'The dead letters that it has not reached stay open.'
  const left = Math.max(0, total - handledOf(job))
  return `${count(left, 'dead letter')} that it has not reached ${
    left === 1 ? 'stays' : 'stay'
  } open.`
}

/** With a bar that fills if it is known how many they are. */
function JobProgress({ job, handled, total }: {
  job: Job
  handled: number
  total: number | null
}): JSX.Element {
  if (job.status === 'done') return <Progress done={handled} total={handled} label='Handled' />
  if (total !== null) {
    return <Progress done={handled} total={Math.max(total, handled)} label='Handled' />
  }
  return (
    <div class='progress'>
      {isOpen(job) && <progress aria-label='Handled' />}
      <span class='num'>Handled {number(handled)}</span>
    </div>
  )
}

function sentenceOf(job: Job): string {
  const again = job.source === 'dead_letters' ? 'sent again' : 'sent'
  const sent = `${number(sentOf(job))} ${sentOf(job) === 1 ? 'was' : 'were'} ${again}`
  const skipped = job.skipped === 0
    ? ''
    : `, ${number(job.skipped)} skipped: in flight, or their endpoint is deleted`
  if (job.status === 'running') return `It runs: ${sent}${skipped}.`
  if (job.status === 'paused') return `It is paused: ${sent}${skipped}.`
  if (job.status === 'cancelled') {
    return `It was cancelled: ${sent}${skipped}. What was ${again} stays so.`
  }
  return `It is done: ${sent}${skipped}.`
}
