import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { useLive } from '../app/data.ts'
import { may } from '../app/session.ts'

type Job = Output<'getReplayJob'>

/** How many deliveries a job has created. */
export function sentOf(job: Job): number {
  return job.source === 'dead_letters' ? job.replayed : job.sent
}

/** How many dead letters or events a job has handled. */
export function handledOf(job: Job): number {
  return sentOf(job) + job.skipped
}

/**
 * How many a job handles in all: what it has handled, and what is left. Null: not known yet, or more
 * than the API counts. It is read once for each page, which only compares it with what is handled.
 */
export function useJobTotal(job: Job): number | null {
  const total = useLive(['replay-total', job.id], (signal) => countAll(job.id, signal), {
    every: false,
    // What a backfill would send may see who may start it.
    enabled: job.status !== 'done' &&
      (job.source === 'dead_letters' || may('deliveries:replay')),
  })
  return total.data ?? null
}

async function countAll(id: string, signal: AbortSignal): Promise<number | null> {
  let job = await api.getReplayJob({ path: { replayJobId: id }, signal })
  // What the job handles while the rest is counted would be missing, or be counted twice.
  for (let tries = 0; tries < 3; tries++) {
    const left = await countLeft(job, signal)
    if (left === null) return null
    const before = job
    job = await api.getReplayJob({ path: { replayJobId: id }, signal })
    if (handledOf(job) === handledOf(before)) return handledOf(job) + left
  }
  return null
}

/** How many the job has not reached yet; null if they are too many to count. */
async function countLeft(job: Job, signal: AbortSignal): Promise<number | null> {
  if (job.source === 'events') return await countEvents(job, signal)
  // Those that it has skipped are still open, and are before the time that it has reached.
  const failedFrom = job.reachedAt ?? job.failedFrom
  const { total, capped } = await api.previewReplayJob({
    body: {
      ...job.endpointId === null ? {} : { endpointId: job.endpointId },
      ...job.eventType === null ? {} : { eventType: job.eventType },
      ...job.error === null ? {} : { error: job.error },
      ...failedFrom === null ? {} : { failedFrom },
      failedTo: job.failedTo,
    },
    signal,
  })
  return capped ? null : total
}

async function countEvents(
  { endpointId, eventTypes, filter, from, reachedAt, until, includeDelivered }: Job & {
    source: 'events'
  },
  signal: AbortSignal,
): Promise<number | null> {
  const next = reachedAt ?? from
  const { total, capped } = await api.previewBackfill({
    path: { endpointId },
    body: {
      ...eventTypes === null ? {} : { eventTypes },
      ...filter === null ? {} : { filter },
      ...next === null ? {} : { from: next },
      ...includeDelivered ? { includeDelivered } : {},
      until,
    },
    signal,
  })
  return capped ? null : total
}
