/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { Dialog } from '../../../console/page/parts/dialog.tsx'
import { usePortal } from '../app/context.ts'
import { useAction } from '../app/data.ts'
import { Problem } from './state.tsx'

/** A button for an action that needs no question. */
export function ActionButton({ label, act, primary = false }: {
  label: string
  act: () => Promise<unknown>
  primary?: boolean
}): JSX.Element {
  const { words } = usePortal()
  const action = useAction(act)
  return (
    <>
      <button
        type='button'
        part='button'
        class={primary ? 'primary' : ''}
        disabled={action.isRunning}
        onClick={() => void action.run()}
      >
        {label}
      </button>
      {action.error !== null && <Problem error={action.error} words={words} />}
    </>
  )
}

/** A dialog that says what an action will do, and then does it. */
export function Confirm({ title, label, act, onClose, isReady = true, danger = false, children }: {
  title: string
  label: string
  act: () => Promise<unknown>
  onClose(): void
  /** Whether all that it needs is filled in. */
  isReady?: boolean
  danger?: boolean
  children: ComponentChildren
}): JSX.Element {
  const { words } = usePortal()
  const action = useAction(act)
  const confirm = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (isReady && await action.run()) onClose()
  }
  return (
    <Dialog title={title} closeLabel={words.t('close')} onClose={onClose}>
      <form class='stack' onSubmit={(event) => void confirm(event)}>
        {children}
        {action.error !== null && <Problem error={action.error} words={words} />}
        <div class='row end'>
          <button type='button' part='button' onClick={onClose}>{words.t('cancel')}</button>
          <button
            type='submit'
            part='button'
            class={danger ? 'danger' : 'primary'}
            disabled={!isReady || action.isRunning}
          >
            {label}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
