import type { UseQueryResult } from '@tanstack/preact-query'
import { useEffect } from 'preact/hooks'
import type { Client } from '../../../package/client/client.ts'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { everyMs, useRead } from '../app/data.ts'
import { asFailure } from '../app/failure.ts'

export type Job = Output<'getReplayJob'>

/** The id of the job that was seen last, by endpoint. A token with limits may not list jobs. */
const seen = new WeakMap<Client, Map<string, string>>()

/** A paused job may be resumed by somebody else. */
const everyOf: Record<Job['status'], number | false> = {
  running: everyMs.live,
  paused: everyMs.list,
  cancelled: false,
  done: false,
}

export interface EndpointJob {
  /** What is read of the job; null: no job is known. */
  reading: UseQueryResult<Job> | null
  isRunning: boolean
  /** Whether no job is running. */
  mayStart: boolean
  /** Whether everything was read. */
  isKnown: boolean
  remember(id: string): void
  /** The id of a job of the endpoint that is running now, or null. */
  findRunning(): Promise<string | null>
}

/**
 * The job of an endpoint: the one that is running, or the last one that was seen here, or the one that the
 * page names.
 */
export function useEndpointJob(endpointId: string, named: string | null): EndpointJob {
  const { client, session } = usePortal()
  const canList = session.endpointIds === null && session.eventTypes === null
  const mine = seen.get(client) ?? new Map<string, string>()
  seen.set(client, mine)
  const remember = (id: string): void => void mine.set(endpointId, id)

  async function findRunning(signal?: AbortSignal): Promise<string | null> {
    if (!canList) return null
    const options = signal === undefined ? {} : { signal }
    const { data } = await client.listReplayJobs({ query: { limit: 100 }, ...options })
    const one = data.find((job) => job.endpointId === endpointId && job.status === 'running')
    return one?.id ?? null
  }

  const running = useRead(['running-job', endpointId], findRunning, { enabled: canList })
  const found = running.data ?? null
  useEffect(() => {
    if (found !== null) remember(found)
  }, [found])
  const id = found ?? mine.get(endpointId) ?? named
  const job = useRead(
    ['job', id],
    (signal) => client.getReplayJob({ path: { replayJobId: id ?? '' }, signal }),
    { every: (value) => everyOf[value?.status ?? 'running'], enabled: id !== null },
  )
  const status = asFailure(job.error)?.status ?? 0
  // An address may name anything.
  const isMissing = status === 400 || status === 404 ||
    job.data !== undefined && job.data.endpointId !== endpointId
  const hasJob = id !== null && !isMissing
  return {
    reading: hasJob ? job : null,
    isRunning: hasJob && job.data?.status === 'running',
    mayStart: !hasJob || job.data !== undefined && job.data.status !== 'running',
    isKnown: (!canList || running.data !== undefined || running.isError) &&
      (!hasJob || job.data !== undefined || job.isError),
    remember,
    findRunning: () => findRunning(),
  }
}

/** How many deliveries an open job sends in the end; null if there are too many to count. */
export async function totalOf(
  client: Client,
  job: Job,
  signal: AbortSignal,
): Promise<number | null> {
  if (job.source !== 'dead_letters') return null
  const { id, endpointId, eventType, error, failedTo } = job
  // It goes on in the order of time, and leaves what it has skipped behind.
  const failedFrom = job.reachedAt ?? job.failedFrom
  const { total, capped } = await client.previewReplayJob({
    body: {
      failedTo,
      ...endpointId === null ? {} : { endpointId },
      ...eventType === null ? {} : { eventType },
      ...error === null ? {} : { error },
      ...failedFrom === null ? {} : { failedFrom },
    },
    signal,
  })
  if (capped) return null
  return handledBy(await client.getReplayJob({ path: { replayJobId: id }, signal })) + total
}

/** How many deliveries a job has sent again. */
export function sentBy(job: Job): number {
  return job.source === 'dead_letters' ? job.replayed : job.sent
}

export function handledBy(job: Job): number {
  return sentBy(job) + job.skipped
}
