/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { visible } from '../../../console/page/app/format.ts'
import { indent, tokenize } from '../../../console/page/parts/json_text.ts'
import { Copy } from './copy.tsx'

/** What is drawn; a page with megabytes of elements would stop responding. Copy gives all. */
const shownCharacters = 64 * 1024

/** A JSON text with indentation and colours. Its numbers stay as they are written. */
export function Json({ text, name }: { text: string; name: string }): JSX.Element {
  const tokens = useMemo(() => {
    const found = text.length > shownCharacters ? null : tokenize(text)
    return found === null ? null : indent(found)
  }, [text])
  return (
    <figure class='code'>
      <figcaption>
        <span>{name}</span>
        <Copy text={text} what={name} />
      </figcaption>
      <pre tabIndex={0} aria-label={name}>
        <code>
          {tokens === null
            ? visible(text.slice(0, shownCharacters))
            : tokens.map(({ kind, text: part }, i) =>
              kind === 'space' ? part : <span key={i} class={`j-${kind}`}>{visible(part)}</span>)}
        </code>
      </pre>
    </figure>
  )
}
