/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { span, visible } from '../app/format.ts'
import { useAction } from '../parts/action.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Link } from '../parts/link.tsx'
import { Problem } from '../parts/state.tsx'
import { Badge } from '../parts/value.tsx'
import { errorHints } from '../events/explain.ts'

type Result = Output<'testEndpoint'>

/** Sends the event `outhook.test` and shows what the endpoint responded. */
export function TestEvent({ endpointId }: { endpointId: string }): JSX.Element {
  const [result, setResult] = useState<Result | null>(null)
  const action = useAction(async () => {
    setResult(
      await api.testEndpoint({
        path: { endpointId },
        query: { waitSeconds: 20 },
        timeoutMs: 30_000,
      }),
    )
  })
  return (
    <>
      <button type='button' disabled={action.isRunning} onClick={() => void action.run()}>
        {action.isRunning ? 'Sending a test event …' : 'Send test event'}
      </button>
      {action.error !== null && <Problem error={action.error} />}
      {result !== null && (
        <Dialog title='Result of the test event' onClose={() => setResult(null)}>
          <TestResult result={result} />
        </Dialog>
      )}
    </>
  )
}

function TestResult({ result }: { result: Result }): JSX.Element {
  const isGood = result.outcome === 'delivered'
  const hint = result.errorClass === null ? undefined : errorHints[result.errorClass]
  return (
    <div class='stack'>
      <p class='row tight'>
        <Badge tone={isGood ? 'good' : result.outcome === 'pending' ? 'info' : 'bad'}>
          {visible(result.outcome)}
        </Badge>
        {result.status !== null && <span>HTTP {result.status}</span>}
        {result.durationMs !== null && <span class='quiet'>{span(result.durationMs)}</span>}
      </p>
      {result.outcome === 'pending' && <p>There was no outcome within 20 s. Follow the event.</p>}
      {result.error !== null && <p>{visible(result.error)}</p>}
      {hint !== undefined && <p class='quiet'>{hint}.</p>}
      {result.response !== null && result.response !== '' && (
        <pre class='response' tabIndex={0} aria-label='Response'>{visible(result.response)}</pre>
      )}
      <p>
        <Link to={`/events/${result.eventId}`}>Open the event</Link>
      </p>
    </div>
  )
}
