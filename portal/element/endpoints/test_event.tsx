/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { visible } from '../../../console/page/app/format.ts'
import { Dialog } from '../../../console/page/parts/dialog.tsx'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { useAction } from '../app/data.ts'
import { ErrorHint } from '../deliveries/attempts.tsx'
import { Problem } from '../parts/state.tsx'
import { Badge } from '../parts/value.tsx'

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
      {action.error !== null && <Problem error={action.error} words={words} />}
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

function TestResult({ result }: { result: Result }): JSX.Element {
  const { words: { t, span } } = usePortal()
  const { outcome, status, durationMs, error, errorClass, response } = result
  const isGood = outcome === 'delivered'
  return (
    <div class='stack'>
      <p class='row'>
        <Badge tone={isGood ? 'good' : outcome === 'pending' ? 'info' : 'bad'}>
          {t(isGood ? 'delivered' : outcome === 'pending' ? 'pending' : 'failedStatus')}
        </Badge>
        {status !== null && <span>HTTP {status}</span>}
        {durationMs !== null && <span class='quiet'>{span(durationMs)}</span>}
      </p>
      {outcome === 'pending' && <p>{t('testPending')}</p>}
      {error !== null && <p>{visible(error)}</p>}
      <ErrorHint errorClass={errorClass} />
      {response !== null && response !== '' && (
        <pre class='response' tabIndex={0} aria-label={t('response')}>{visible(response)}</pre>
      )}
    </div>
  )
}
