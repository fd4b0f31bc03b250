/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'

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

/** The clipboard of the browser needs a secure context, which a host without TLS is not. */
async function writeClipboard(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return await navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  document.body.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
}
