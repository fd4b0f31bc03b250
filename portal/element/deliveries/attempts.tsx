/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { visible } from '../../../console/page/app/format.ts'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { everyMs, useRead } from '../app/data.ts'
import type { TextKey } from '../app/words.ts'
import { Read } from '../parts/state.tsx'
import { Badge, Foreign, Time } from '../parts/value.tsx'
import { hintKeys } from '../texts/hints.ts'

type Attempt = Output<'listAttempts'>['data'][number]

/** The attempts of a delivery in the order of time. */
export function Attempts({ delivery, isOpen }: {
  delivery: Output<'getDelivery'>
  isOpen: boolean
}): JSX.Element {
  const { client, words: { t } } = usePortal()
  const attempts = useRead(
    ['attempts', delivery.id],
    (signal) =>
      client.listAttempts({ path: { deliveryId: delivery.id }, query: { limit: 100 }, signal }),
    { every: isOpen ? everyMs.live : everyMs.list },
  )
  return (
    <section aria-labelledby='attempts-title'>
      <h3 id='attempts-title'>{t('attempts')}</h3>
      <Read of={attempts}>
        {({ data, nextCursor }) => (
          <>
            {nextCursor !== null && <p class='quiet'>{t('olderAttempts')}</p>}
            {data.length === 0 && <p class='quiet'>{t('noAttempts')}</p>}
            <ol class='timeline'>
              {[...data].sort((a, b) => a.attempt - b.attempt || a.at.localeCompare(b.at)).map(
                (one) => <Step key={`${one.attempt} ${one.kind} ${one.at}`} attempt={one} />,
              )}
            </ol>
          </>
        )}
      </Read>
    </section>
  )
}

function Step({ attempt }: { attempt: Attempt }): JSX.Element {
  const { words: { t, span } } = usePortal()
  const { outcome, status, durationMs, error, errorClass, response, kind } = attempt
  const isGood = outcome === 'delivered'
  // The end of a delivery repeats its last attempt.
  const isTry = kind === 'attempt'
  const tone = isGood ? 'good' : outcome === 'cancelled' ? 'quiet' : 'bad'
  const n = attempt.attempt
  return (
    <li class={`step ${tone}`}>
      <div class='row'>
        <strong>
          {isTry
            ? t(isGood ? 'attemptDelivered' : 'attemptFailed', { n })
            : t(isGood ? 'delivered' : outcome === 'cancelled' ? 'cancelled' : 'gaveUp')}
        </strong>
        <span class='quiet'>
          <Time at={attempt.at} />
        </span>
        {isTry && status !== null && <Badge tone={tone}>HTTP {status}</Badge>}
        {isTry && durationMs !== null && <span class='quiet'>{span(durationMs)}</span>}
      </div>
      {isTry && error !== null && (
        <p>
          <Foreign text={error} />
        </p>
      )}
      {isTry && <ErrorHint errorClass={errorClass} />}
      {isTry && response !== null && response !== '' && (
        <details>
          <summary>{t('response')}</summary>
          <pre class='response' tabIndex={0} aria-label={t('response')}>{visible(response)}</pre>
        </details>
      )}
    </li>
  )
}

/** What an error means, and what helps. */
export function ErrorHint({ errorClass }: { errorClass: string | null }): JSX.Element | null {
  const { words: { t } } = usePortal()
  if (errorClass === null || !Object.hasOwn(hintKeys, errorClass)) return null
  // SAFETY: the line above has checked that it is a key.
  const key: TextKey = hintKeys[errorClass as keyof typeof hintKeys]
  return <p class='quiet'>{t(key)}.</p>
}
