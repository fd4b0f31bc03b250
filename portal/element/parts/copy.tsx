/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { writeClipboard } from '../../../console/page/parts/clipboard.ts'
import { usePortal } from '../app/context.ts'

/** Copies a text as it is; `what` says which, for those who do not see what it stands beside. */
export function Copy({ text, what }: { text: string; what: string }): JSX.Element {
  const { t } = usePortal().words
  const [said, setSaid] = useState<'copied' | 'notCopied' | null>(null)
  const copy = async (button: Element): Promise<void> => {
    setSaid(await writeClipboard(text, button) ? 'copied' : 'notCopied')
    setTimeout(() => setSaid(null), 1500)
  }
  return (
    <button
      type='button'
      class='plain'
      part='button'
      aria-label={t('copyWhat', { what })}
      onClick={(event) => void copy(event.currentTarget)}
    >
      {t(said ?? 'copy')}
    </button>
  )
}

/** A text with its button. */
export function Code({ text, name }: { text: string; name: string }): JSX.Element {
  return (
    <figure class='code'>
      <figcaption>
        <span>{name}</span>
        <Copy text={text} what={name} />
      </figcaption>
      <pre tabIndex={0} aria-label={name}><code>{text}</code></pre>
    </figure>
  )
}
