/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { number, visible } from '../app/format.ts'
import { Copy } from './copy.tsx'
import { indent, tokenize } from './json_text.ts'

/** What is drawn at first; a page with megabytes of elements would stop responding. */
const shownAtFirst = 64 * 1024

/** A JSON text with indentation and colours. Copy gives the text as it is stored. */
export function JsonView({ text, name }: { text: string; name: string }): JSX.Element {
  const [isWhole, setWhole] = useState(false)
  const isLong = text.length > shownAtFirst
  const tokens = useMemo(() => {
    if (isLong) return null
    const found = tokenize(text)
    return found === null ? null : indent(found)
  }, [text])
  const shown = isLong && !isWhole ? text.slice(0, shownAtFirst) : text
  return (
    <figure class='json'>
      <figcaption>
        <span>{name}</span>
        <span class='quiet'>{number(text.length)} characters</span>
        <Copy text={text} label='Copy' />
      </figcaption>
      <pre tabIndex={0} aria-label={name}>
        {tokens === null
          ? <code>{visible(shown)}</code>
          : (
            <code>
              {tokens.map(({ kind, text: part }, i) =>
                kind === 'space' ? part : <span key={i} class={`j-${kind}`}>{visible(part)}</span>
              )}
            </code>
          )}
      </pre>
      {isLong && !isWhole && (
        <button type='button' class='plain' onClick={() => setWhole(true)}>
          Show all {number(text.length)} characters
        </button>
      )}
    </figure>
  )
}
