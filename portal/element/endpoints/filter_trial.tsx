/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { usePortal } from '../app/context.ts'
import { Problem } from '../parts/state.tsx'
import { useTrial } from './trial.ts'

/** Says how many of the newest events a filter would let through, before it is saved. */
export function FilterTrial({ filter, types }: {
  filter: string
  types: string[]
}): JSX.Element | null {
  const { client, session, can, words } = usePortal()
  const { t } = words
  const { isRunning, trial, error, run } = useTrial(client, filter, types)
  // A token with limits does not reach the events of others.
  const isLimited = session.endpointIds !== null || session.eventTypes !== null
  if (filter.trim() === '' || !can('events:read') || isLimited) return null
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
