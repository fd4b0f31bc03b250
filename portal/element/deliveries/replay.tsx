/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { newKey } from '../../../console/page/app/new_key.ts'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { useAction } from '../app/data.ts'
import type { TextKey } from '../app/words.ts'
import { Problem, Read } from '../parts/state.tsx'
import { isoOf, TimeField } from '../parts/time_field.tsx'
import { Time } from '../parts/value.tsx'
import { ReplayJob } from './replay_job.tsx'
import { type EndpointJob, useEndpointJob } from './replay_jobs.ts'
import { TypeFilter, useTypeFilter } from './type_filter.tsx'

type Preview = Output<'previewReplayJob'>

const spans = [
  ['3600000', 'lastHour'],
  ['86400000', 'lastDaySpan'],
  ['604800000', 'lastWeek'],
  ['', 'sinceTime'],
] as const

/** Sends again what failed since a time. While a job is running, its progress is shown and none is started. */
export function Replay({ endpointId, jobId }: {
  endpointId: string
  jobId: string | null
}): JSX.Element {
  const { words: { t } } = usePortal()
  const job = useEndpointJob(endpointId, jobId)
  return (
    <section class='stack' aria-labelledby='replay-title'>
      <h3 id='replay-title'>{t('replayFailed')}</h3>
      <p>{t('replayHint')}</p>
      {!job.isKnown && <p class='quiet' role='status'>{t('loading')}</p>}
      {job.isKnown && job.reading !== null && (
        <Read of={job.reading}>{(one) => <ReplayJob key={one.id} job={one} />}</Read>
      )}
      {job.isKnown && job.mayStart && <Plan endpointId={endpointId} job={job} />}
      {job.isRunning && <p class='quiet'>{t('replayOne')}</p>}
    </section>
  )
}

/** First how many these are, then a job. */
function Plan({ endpointId, job }: { endpointId: string; job: EndpointJob }): JSX.Element {
  const { client, router, words } = usePortal()
  const { t } = words
  const [span, setSpan] = useState('86400000')
  const [moment, setMoment] = useState('')
  const types = useTypeFilter()
  const [found, setFound] = useState<{ preview: Preview; from: string; key: string } | null>(null)
  const isReady = (span !== '' || moment !== '') && !types.isMissing
  const only = types.type === '' ? {} : { eventType: types.type }
  const look = useAction(async () => {
    const from = span === '' ? isoOf(moment) : new Date(Date.now() - Number(span)).toISOString()
    const preview = await client.previewReplayJob({
      body: { endpointId, failedFrom: from, ...only },
    })
    // One key for all clicks, so that a repeat after a lost response starts one job.
    setFound({ preview, from, key: newKey() })
  })
  const begin = useAction(async () => {
    if (found === null) return
    const { preview: { failedTo }, from, key: idempotencyKey } = found
    // What fails after the preview is not part of the job.
    const body = { endpointId, failedFrom: from, failedTo, ratePerSecond: 50, ...only }
    // Somebody else may have started one since the page has looked.
    const id = await job.findRunning() ??
      (await client.createReplayJob({ body, idempotencyKey })).id
    job.remember(id)
    setFound(null)
    router.go(`endpoints/${endpointId}/replay/${id}`)
  })
  const change = (act: () => void): void => {
    act()
    setFound(null)
  }
  return (
    <>
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
          <TimeField
            label={t('time')}
            value={moment}
            onTime={(value) => change(() => setMoment(value))}
          />
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
      {found !== null && (
        <Found
          preview={found.preview}
          isRunning={begin.isRunning}
          onStart={() => void begin.run()}
        />
      )}
      {begin.error !== null && <Problem error={begin.error} words={words} />}
    </>
  )
}

function Found({ preview: { total, capped, oldestFailedAt }, isRunning, onStart }: {
  preview: Preview
  isRunning: boolean
  onStart(): void
}): JSX.Element {
  const { words: { t } } = usePortal()
  if (total === 0 && !capped) return <p role='status'>{t('nothingFailed')}</p>
  return (
    <div class='stack' role='status'>
      <p>
        {t(foundKey(total, capped), { n: total })}
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

/** Only the newest dead letters are counted, of which none may be of the type. */
function foundKey(total: number, capped: boolean): TextKey {
  if (capped) return total === 0 ? 'foundOlder' : 'foundMany'
  return total === 1 ? 'foundOne' : 'foundN'
}
