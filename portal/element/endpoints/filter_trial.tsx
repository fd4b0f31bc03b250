/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { Problem } from '../parts/state.tsx'

/** What a trial has shown, and of which filter and types. */
interface Tried {
  tried: string
  trial: Output<'tryFilter'> | null
  error: unknown
}

/** Says how many of the newest events a filter would let through, before it is saved. */
export function FilterTrial({ filter, types }: {
  filter: string
  types: string[]
}): JSX.Element | null {
  const { client, session, can, words } = usePortal()
  const { t } = words
  const [result, setResult] = useState<Tried | null>(null)
  const [isRunning, setRunning] = useState(false)
  const tried = JSON.stringify([filter, types])
  // A token with limits does not reach the events of others.
  const isLimited = session.endpointIds !== null || session.eventTypes !== null
  if (filter.trim() === '' || !can('events:read') || isLimited) return null
  // It stores nothing, so that nothing else is read again.
  const run = async (): Promise<void> => {
    setRunning(true)
    try {
      const body = types.length === 0 ? { filter } : { filter, eventTypes: types }
      setResult({ tried, trial: await client.tryFilter({ body }), error: null })
    } catch (error) {
      setResult({ tried, trial: null, error })
    } finally {
      setRunning(false)
    }
  }
  // The result of another filter would mislead.
  const { trial, error } = result?.tried === tried ? result : { trial: null, error: null }
  return (
    <div class='stack'>
      <div class='row'>
        <button
          type='button'
          part='button'
          disabled={isRunning}
          onClick={() => void run()}
        >
          {t('tryFilter')}
        </button>
      </div>
      {error !== null && <Problem error={error} words={words} />}
      {trial !== null && (
        <p role='status'>
          {trial.tried === 0 ? t(trial.isWhole ? 'tryNothing' : 'tryNoneNew') : t('tryResult', {
            matched: trial.matched,
            tried: trial.tried,
          })}
          {trial.failed > 0 && ` ${t('tryFailed', { failed: trial.failed })}`}
        </p>
      )}
    </div>
  )
}
