/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { writeClipboard } from './clipboard.ts'

/** Copies a text as it is. */
export function Copy({ text, label }: { text: string; label: string }): JSX.Element {
  const [isCopied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await writeClipboard(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return (
    <button type='button' class='plain copy' onClick={() => void copy()}>
      {isCopied ? 'Copied' : label}
    </button>
  )
}
