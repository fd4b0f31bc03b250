/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { writeClipboard } from './clipboard.ts'

/** Copies a text as it is. */
export function Copy({ text, label }: { text: string; label: string }): JSX.Element {
  const [said, setSaid] = useState<string | null>(null)
  const copy = async (button: Element): Promise<void> => {
    setSaid(await writeClipboard(text, button) ? 'Copied' : 'Copy it by hand')
    setTimeout(() => setSaid(null), 1500)
  }
  return (
    <button
      type='button'
      class='plain copy'
      onClick={(event) => void copy(event.currentTarget)}
    >
      {said ?? label}
    </button>
  )
}
