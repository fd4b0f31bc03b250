/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { everyMs, useAction, useRead } from '../app/data.ts'
import type { TextKey } from '../app/words.ts'
import { Problem, Read } from '../parts/state.tsx'
import { Time } from '../parts/value.tsx'
import { TypeFilter, useTypeFilter } from './type_filter.tsx'

type Preview = Output<'previewReplayJob'>

const spans = [
  ['3600000', 'lastHour'],
  ['86400000', 'lastDaySpan'],
  ['604800000', 'lastWeek'],
  ['', 'sinceTime'],
] as const

/** Sends again what failed since a time: first how many these are, then a job with its progress. */
export function Replay({ endpointId }: { endpointId: string }): JSX.Element {
  const { client, words } = usePortal()
  const { t } = words
  const [span, setSpan] = useState('86400000')
  const [moment, setMoment] = useState('')
  const types = useTypeFilter()
  const [found, setFound] = useState<{ preview: Preview; from: string } | null>(null)
  const [jobId, setJobId] = useState<string | null>(null)
  const isReady = (span !== '' || moment !== '') && !types.isMissing
  const only = types.type === '' ? {} : { eventType: types.type }
  const look = useAction(async () => {
    const start = span === '' ? Date.parse(moment) : Date.now() - Number(span)
    const from = new Date(start).toISOString()
    const preview = await client.previewReplayJob({
      body: { endpointId, failedFrom: from, ...only },
    })
    setJobId(null)
    setFound({ preview, from })
  })
  const begin = useAction(async () => {
    if (found === null) return
    const { preview: { failedTo }, from } = found
    // What fails after the preview is not part of the job.
    const body = { endpointId, failedFrom: from, failedTo, ratePerSecond: 50, ...only }
    const job = await client.createReplayJob({ body })
    setJobId(job.id)
  })
  const change = (act: () => void): void => {
    act()
    setFound(null)
    setJobId(null)
  }
  return (
    <section class='stack' aria-labelledby='replay-title'>
      <h3 id='replay-title'>{t('replayFailed')}</h3>
      <p>{t('replayHint')}</p>
      <form
        class='row filters'
        onSubmit={(event) => {
          event.preventDefault()
          void look.run()
        }}
      >
        <label class='field'>
          {t('failedSince')}
          <select
            part='input'
            value={span}
            onChange={({ currentTarget: { value } }) => change(() => setSpan(value))}
          >
            {spans.map(([ms, key]) => <option key={key} value={ms}>{t(key)}</option>)}
          </select>
        </label>
        {span === '' && (
          <label class='field'>
            {t('time')}
            <input
              part='input'
              type='datetime-local'
              value={moment}
              onInput={({ currentTarget: { value } }) => change(() => setMoment(value))}
            />
          </label>
        )}
        <TypeFilter
          of={{ ...types, choose: (type) => change(() => types.choose(type)) }}
          isTyped
        />
        <button type='submit' part='button' disabled={!isReady || look.isRunning}>
          {t('showHowMany')}
        </button>
      </form>
      {look.error !== null && <Problem error={look.error} words={words} />}
      {found !== null && jobId === null && (
        <Found
          preview={found.preview}
          isRunning={begin.isRunning}
          onStart={() => void begin.run()}
        />
      )}
      {begin.error !== null && <Problem error={begin.error} words={words} />}
      {jobId !== null && <Job id={jobId} total={found?.preview.total ?? 0} />}
    </section>
  )
}

function Found({ preview: { total, capped, oldestFailedAt }, isRunning, onStart }: {
  preview: Preview
  isRunning: boolean
  onStart(): void
}): JSX.Element {
  const { words: { t } } = usePortal()
  if (total === 0) return <p role='status'>{t('nothingFailed')}</p>
  return (
    <div class='stack' role='status'>
      <p>
        {t(capped ? 'foundMany' : total === 1 ? 'foundOne' : 'foundN', { n: total })}
        {oldestFailedAt !== null && (
          <>
            {' '}
            {t('oldestFailed')} <Time at={oldestFailedAt} />.
          </>
        )}
      </p>
      <div>
        <button
          type='button'
          part='button'
          class='primary'
          disabled={isRunning}
          onClick={onStart}
        >
          {t(capped ? 'replayAll' : 'replayN', { n: total })}
        </button>
      </div>
    </div>
  )
}

type JobStatus = Output<'getReplayJob'>['status']

const jobTexts = {
  running: 'replayRuns',
  paused: 'replayPaused',
  cancelled: 'replayCancelled',
  done: 'replayDone',
} as const satisfies Record<JobStatus, TextKey>

/** A paused job may be resumed by somebody else. */
const everyOf: Record<JobStatus, number | false> = {
  running: everyMs.live,
  paused: everyMs.list,
  cancelled: false,
  done: false,
}

function Job({ id, total }: { id: string; total: number }): JSX.Element {
  const { client, words: { t } } = usePortal()
  const job = useRead(
    ['job', id],
    (signal) => client.getReplayJob({ path: { replayJobId: id }, signal }),
    { every: (value) => everyOf[value?.status ?? 'running'] },
  )
  return (
    <Read of={job}>
      {(one) => {
        const n = one.source === 'dead_letters' ? one.replayed : one.sent
        const handled = n + one.skipped
        // The first reading may come before the job has counted what the preview counted.
        const all = Math.max(total, handled)
        return (
          <div class='stack' role='status'>
            <progress
              max={1}
              value={one.status === 'done' || all === 0 ? 1 : handled / all}
              aria-label={t('replayFailed')}
            />
            <p>
              {t(jobTexts[one.status], { n, all })}{' '}
              {one.skipped > 0 && t('replaySkipped', { n: one.skipped })}
            </p>
          </div>
        )
      }}
    </Read>
  )
}
