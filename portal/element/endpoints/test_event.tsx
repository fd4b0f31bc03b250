/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { visible } from '../../../console/page/app/format.ts'
import { Dialog } from '../../../console/page/parts/dialog.tsx'
import { ApiError } from '../../../package/client/errors.ts'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { useAction } from '../app/data.ts'
import type { TextKey } from '../app/words.ts'
import { ErrorHint } from '../deliveries/attempts.tsx'
import { Problem } from '../parts/state.tsx'
import { Ago, Badge, type Tone } from '../parts/value.tsx'

type Result = Output<'testEndpoint'>

/** Sends the event `outhook.test` and shows what the endpoint responded. */
export function TestEvent({ endpointId }: { endpointId: string }): JSX.Element {
  const { client, words } = usePortal()
  const { t } = words
  const [result, setResult] = useState<Result | null>(null)
  const action = useAction(async () => {
    setResult(
      await client.testEndpoint({
        path: { endpointId },
        query: { waitSeconds: 20 },
        timeoutMs: 30_000,
      }),
    )
  })
  return (
    <>
      <button
        type='button'
        part='button'
        disabled={action.isRunning}
        onClick={() => void action.run()}
      >
        {t(action.isRunning ? 'testing' : 'sendTest')}
      </button>
      {action.error !== null && <Refusal error={action.error} />}
      {result !== null && (
        <Dialog
          title={t('testResult')}
          closeLabel={t('close')}
          onClose={() => setResult(null)}
        >
          <TestResult result={result} />
        </Dialog>
      )}
    </>
  )
}

/** Why the API sends no test event: its own text names ids and SQL functions. */
const refusals: Readonly<Record<string, TextKey>> = {
  breaker_open: 'testFailing',
  wrong_state: 'testRefused',
}

function Refusal({ error }: { error: unknown }): JSX.Element {
  const { words } = usePortal()
  const key = error instanceof ApiError ? refusals[error.code] : undefined
  if (key === undefined) return <Problem error={error} words={words} />
  return (
    <div class='problem' role='alert'>
      <p>{words.t(key)}</p>
    </div>
  )
}

/** How an outcome is called; any other one has failed. */
const outcomes: Readonly<Record<string, readonly [Tone, TextKey]>> = {
  delivered: ['good', 'delivered'],
  pending: ['info', 'pending'],
  cancelled: ['quiet', 'cancelled'],
}

function TestResult({ result }: { result: Result }): JSX.Element {
  const { words: { t, span } } = usePortal()
  const { outcome, status, durationMs, error, errorClass, response } = result
  const [tone, name] = outcomes[outcome] ?? ['bad', 'failedStatus']
  return (
    <div class='stack'>
      <p class='row'>
        <Badge tone={tone}>{t(name)}</Badge>
        {status !== null && <span>HTTP {status}</span>}
        {durationMs !== null && <span class='quiet'>{span(durationMs)}</span>}
      </p>
      <WhatNext result={result} />
      {error !== null && <p>{visible(error)}</p>}
      <ErrorHint errorClass={errorClass} />
      {response !== null && response !== '' && (
        <section aria-labelledby='test-response'>
          <h3 id='test-response'>{t('response')}</h3>
          <pre class='response' tabIndex={0} aria-label={t('response')}>{visible(response)}</pre>
        </section>
      )}
      <p class='quiet'>{t('testSent', sent)}</p>
    </div>
  )
}

/** What a receiver gets. */
const sent = { type: 'outhook.test', payload: '{"test": true}' }

function WhatNext({ result: { outcome, nextRetryAt } }: { result: Result }): JSX.Element {
  const { words: { t } } = usePortal()
  if (outcome === 'pending') return <p>{t('testPending', sent)}</p>
  if (outcome === 'delivered') return <p>{t('explain_delivered')}</p>
  if (outcome === 'cancelled') return <p>{t('explain_cancelled')}</p>
  if (nextRetryAt === null) return <p>{t('gaveUp')}.</p>
  return (
    <p>
      {t('explain_retrying')} {t('nextAttempt')} <Ago at={nextRetryAt} />.
    </p>
  )
}
