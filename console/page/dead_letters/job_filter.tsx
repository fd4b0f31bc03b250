/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { Fact, Foreign, Time } from '../parts/value.tsx'

/** Which dead letters or events a job sends. */
export function JobFilter({ job }: { job: Output<'getReplayJob'> }): JSX.Element {
  const isReplay = job.source === 'dead_letters'
  const types = isReplay ? job.eventType : job.eventTypes?.join(', ') ?? null
  const from = isReplay ? job.failedFrom : job.from
  return (
    <>
      <Fact name={isReplay ? 'Event type' : 'Event types'}>
        {types === null ? 'all' : <Foreign text={types} />}
      </Fact>
      {job.source === 'dead_letters' && typeof job.error === 'string' && (
        <Fact name='Error'>
          <Foreign text={job.error} />
        </Fact>
      )}
      {job.source === 'events' && job.includeDelivered && (
        <Fact name='Already delivered'>sent again</Fact>
      )}
      {from !== null && (
        <Fact name={isReplay ? 'Failed from' : 'Published from'}>
          <Time at={from} />
        </Fact>
      )}
      <Fact name={isReplay ? 'Failed until' : 'Published until'}>
        <Time at={isReplay ? job.failedTo : job.until} />
      </Fact>
    </>
  )
}
