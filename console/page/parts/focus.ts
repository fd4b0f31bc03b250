import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/**
 * Moves the focus when the button that had it is removed, for users of the keyboard. `focus` takes a selector inside
 * the element of the ref, and applies it after the next render.
 */
export function useNextFocus<T extends HTMLElement>(): {
  root: RefObject<T>
  focus(selector: string): void
} {
  const root = useRef<T>(null)
  const [wanted, setWanted] = useState<{ selector: string } | null>(null)
  useEffect(() => {
    if (wanted !== null) root.current?.querySelector<HTMLElement>(wanted.selector)?.focus()
  }, [wanted])
  return { root, focus: (selector) => setWanted({ selector }) }
}
