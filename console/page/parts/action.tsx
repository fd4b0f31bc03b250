/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { refresh } from '../app/data.ts'
import { Dialog } from './dialog.tsx'
import { Problem } from './state.tsx'

/** An action that runs once at a time, with its error. */
export interface Running {
  isRunning: boolean
  error: unknown
  run(): Promise<boolean>
}

/** Runs an action, then reads everything again. `run` resolves with whether it succeeded. */
export function useAction(act: () => Promise<unknown>): Running {
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<unknown>(null)
  return {
    isRunning,
    error,
    async run(): Promise<boolean> {
      setRunning(true)
      setError(null)
      try {
        await act()
        await refresh()
        return true
      } catch (failure) {
        setError(failure)
        return false
      } finally {
        setRunning(false)
      }
    },
  }
}

/** A button for an action that needs no question. */
export function ActionButton({ label, act, main = false, danger = false }: {
  label: string
  act: () => Promise<unknown>
  /** Whether the key r does it. */
  main?: boolean
  danger?: boolean
}): JSX.Element {
  const action = useAction(act)
  return (
    <>
      <button
        type='button'
        class={danger ? 'danger' : main ? 'primary' : ''}
        disabled={action.isRunning}
        data-main-action={main ? '' : undefined}
        onClick={() => void action.run()}
      >
        {action.isRunning ? `${label} …` : label}
      </button>
      {action.error !== null && <Problem error={action.error} />}
    </>
  )
}

interface ConfirmProps {
  title: string
  label: string
  act: () => Promise<unknown>
  onClose(): void
  /** Whether all that it needs is filled in. */
  isReady?: boolean
  danger?: boolean
  /** What must be typed first, for an action without a way back. */
  typed?: string | undefined
  children: ComponentChildren
}

/** A dialog that says what an action will do, and then does it. */
export function Confirm(
  { title, label, act, onClose, isReady = true, danger = false, typed, children }: ConfirmProps,
): JSX.Element {
  const [text, setText] = useState('')
  const action = useAction(act)
  const mayRun = isReady && (typed === undefined || text.trim() === typed)
  const confirm = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (mayRun && await action.run()) onClose()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form class='stack' onSubmit={(event) => void confirm(event)}>
        {children}
        {typed !== undefined && (
          <label class='field'>
            Type {typed} to confirm
            <input
              value={text}
              spellcheck={false}
              autocomplete='off'
              autocapitalize='off'
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
        )}
        {action.error !== null && <Problem error={action.error} />}
        <div class='row end'>
          <button type='button' onClick={onClose}>Cancel</button>
          <button
            type='submit'
            class={danger ? 'danger' : 'primary'}
            disabled={!mayRun || action.isRunning}
          >
            {action.isRunning ? `${label} …` : label}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
