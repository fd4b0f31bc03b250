import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/**
 * Sets the focus once a button that had it is gone, for whoever has no mouse: `focus` takes a selector, which is
 * looked for inside the element of the ref after the next drawing.
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
