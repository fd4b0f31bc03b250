/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

/** A modal dialog: the platform's own, which keeps the focus and closes on Escape. */
export function Dialog({ title, children, closeLabel = 'Close', onClose }: {
  title: string
  children: ComponentChildren
  closeLabel?: string
  onClose(): void
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    // The portal is a shadow root, which knows its own focus.
    const root = dialog.current?.getRootNode()
    const before = (root instanceof ShadowRoot ? root : document).activeElement
    dialog.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <div class='dialog-head'>
        <h2 id={id}>{title}</h2>
        <button
          type='button'
          class='plain close'
          aria-label={closeLabel}
          onClick={() => dialog.current?.close()}
        >
          ✕
        </button>
      </div>
      {children}
    </dialog>
  )
}
