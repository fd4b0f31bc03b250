/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { api } from '../app/api.ts'
import { count } from '../app/format.ts'
import { Confirm, useAction } from '../parts/action.tsx'
import { Progress } from '../parts/progress.tsx'
import { Problem } from '../parts/state.tsx'

/** From so many on, it asks first. */
const askedFrom = 10

/** Sends the selected dead letters again, one after the other. */
export function ReplaySome({ letters, done }: {
  letters: readonly { id: string; endpointId: string }[]
  done(): void
}): JSX.Element {
  const [asked, setAsked] = useState<typeof letters | null>(null)
  const [sent, setSent] = useState(0)
  const replay = async (chosen: typeof letters): Promise<void> => {
    setSent(0)
    for (const { id } of chosen) {
      await api.replayDeadLetter({ path: { deadLetterId: id } })
      setSent((n) => n + 1)
    }
    done()
  }
  const action = useAction(() => replay(letters))
  return (
    <>
      <button
        type='button'
        class='primary'
        disabled={action.isRunning}
        data-main-action='first'
        onClick={() => letters.length < askedFrom ? void action.run() : setAsked(letters)}
      >
        Replay
      </button>
      {action.isRunning && <Progress done={sent} total={letters.length} label='Replayed' />}
      {action.error !== null && <Problem error={action.error} />}
      {asked !== null && (
        <Confirm
          title={`Replay ${count(asked.length, 'dead letter')}?`}
          label='Replay them'
          act={() => replay(asked)}
          onClose={() => setAsked(null)}
        >
          <p>
            Each is sent again, with all its retries, to{' '}
            {count(new Set(asked.map(({ endpointId }) => endpointId)).size, 'endpoint')}.
          </p>
          {sent > 0 && <Progress done={sent} total={asked.length} label='Replayed' />}
        </Confirm>
      )}
    </>
  )
}
