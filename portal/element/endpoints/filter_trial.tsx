/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { useAction } from '../app/data.ts'
import { Problem } from '../parts/state.tsx'

type Trial = Output<'tryFilter'>

/** Says how many of the newest events a filter would let through, before it is saved. */
export function FilterTrial({ filter, types }: {
  filter: string
  types: string[]
}): JSX.Element | null {
  const { client, session, can, words } = usePortal()
  const { t } = words
  const [trial, setTrial] = useState<Trial | null>(null)
  const action = useAction(async () => {
    const body = types.length === 0 ? { filter } : { filter, eventTypes: types }
    setTrial(await client.tryFilter({ body }))
  })
  const tried = `${filter} ${types.join(' ')}`
  // The result of another filter would mislead.
  useEffect(() => setTrial(null), [tried])
  // A token with limits does not reach the events of others.
  const isLimited = session.endpointIds !== null || session.eventTypes !== null
  if (filter.trim() === '' || !can('events:read') || isLimited) return null
  return (
    <div class='stack'>
      <div class='row'>
        <button
          type='button'
          part='button'
          disabled={action.isRunning}
          onClick={() => void action.run()}
        >
          {t('tryFilter')}
        </button>
      </div>
      {action.error !== null && <Problem error={action.error} words={words} />}
      {trial !== null && (
        <p role='status'>
          {trial.tried === 0 ? t('tryNothing') : t('tryResult', {
            matched: trial.matched,
            tried: trial.tried,
          })}
          {trial.failed > 0 && ` ${t('tryFailed', { failed: trial.failed })}`}
        </p>
      )}
    </div>
  )
}
