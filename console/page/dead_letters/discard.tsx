/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { api } from '../app/api.ts'
import { count } from '../app/format.ts'
import { Confirm } from '../parts/action.tsx'

/** Discards dead letters, with a reason that is stored with each. */
export function Discard({ letters, done }: {
  letters: readonly { id: string }[]
  done?: () => void
}): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  const [reason, setReason] = useState('')
  const discard = async (): Promise<void> => {
    for (const { id } of letters) {
      await api.discardDeadLetter({ path: { deadLetterId: id }, body: { reason: reason.trim() } })
    }
    done?.()
  }
  return (
    <>
      <button type='button' onClick={() => setOpen(true)}>Discard …</button>
      {isOpen && (
        <Confirm
          title={`Discard ${count(letters.length, 'dead letter')}?`}
          label='Discard'
          danger
          isReady={reason.trim() !== ''}
          act={discard}
          onClose={() => setOpen(false)}
        >
          <p>
            {letters.length === 1 ? 'It' : 'They'}{' '}
            will not be sent. The cleanup deletes discarded dead letters later; until then each can
            still be sent again from its page.
          </p>
          <label class='field'>
            Reason
            <input
              value={reason}
              maxLength={1000}
              required
              placeholder='The customer has left'
              onInput={(event) => setReason(event.currentTarget.value)}
            />
          </label>
        </Confirm>
      )}
    </>
  )
}
