/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { usePortal } from '../app/context.ts'
import { useRead } from '../app/data.ts'
import type { TextKey } from '../app/words.ts'
import { Time } from '../parts/value.tsx'
import { handledBy, type Job, sentBy, totalOf } from './replay_jobs.ts'

/** By status: the text with the number of all, and the one if this number is not known. */
const texts = {
  running: ['replayRuns', 'replayRunsOn'],
  paused: ['replayPaused', 'replayPausedOn'],
  cancelled: ['replayCancelled', 'replayCancelledOn'],
  done: ['replayDone', 'replayDone'],
} as const satisfies Record<Job['status'], readonly [TextKey, TextKey]>

/** The progress of a job, also of one that somebody else or an earlier visit has started. */
export function ReplayJob({ job }: { job: Job }): JSX.Element {
  const { client, words: { t } } = usePortal()
  const isOpen = job.status === 'running' || job.status === 'paused'
  const { data = null } = useRead(
    ['job-total', job.id],
    (signal) => totalOf(client, job, signal),
    // Counted once: each count reads all that wait.
    { every: false, enabled: isOpen },
  )
  const n = sentBy(job)
  const handled = handledBy(job)
  // A job may find fewer than were counted, if some were sent again one by one.
  const all = job.status === 'done' ? handled : data === null ? null : Math.max(data, handled)
  const [withAll, without] = texts[job.status]
  // What is not known moves without an end.
  const value = all === null ? {} : { value: all === 0 ? 1 : handled / all }
  return (
    <div class='stack' role='status'>
      {(all !== null || isOpen) && <progress max={1} {...value} aria-label={t('replayFailed')} />}
      <p>
        {all === null ? t(without, { n }) : t(withAll, { n, all })}{' '}
        {job.skipped > 0 && t('replaySkipped', { n: job.skipped })}
      </p>
      <p class='quiet'>
        {t('replayStarted')} <Time at={job.createdAt} />
      </p>
    </div>
  )
}
