/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { api } from '../app/api.ts'
import { useAction } from '../parts/action.tsx'
import { Problem } from '../parts/state.tsx'
import { Progress } from '../parts/progress.tsx'

/** Sends the selected dead letters again, one after the other. */
export function ReplaySome({ letters, done }: {
  letters: readonly { id: string }[]
  done(): void
}): JSX.Element {
  const [sent, setSent] = useState(0)
  const action = useAction(async () => {
    setSent(0)
    for (const { id } of letters) {
      await api.replayDeadLetter({ path: { deadLetterId: id } })
      setSent((n) => n + 1)
    }
    done()
  })
  return (
    <>
      <button
        type='button'
        class='primary'
        disabled={action.isRunning}
        data-main-action=''
        onClick={() => void action.run()}
      >
        Replay
      </button>
      {action.isRunning && <Progress done={sent} total={letters.length} label='Replayed' />}
      {action.error !== null && <Problem error={action.error} />}
    </>
  )
}
