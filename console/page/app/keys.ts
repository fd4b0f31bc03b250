import { useLayoutEffect } from 'preact/hooks'
import { navigate } from './location.ts'
import { isAllowed, pages } from './pages.ts'

/** The keys of the pages that may be shown, and of all pages, as the help shows them. */
export const keyHelp = (): readonly (readonly [keys: string, what: string])[] => [
  ['/', 'Go to the search'],
  ['j  k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['r', 'The main action of the page, or of the selected rows: replay, retry or resume'],
  ...pages.filter(isAllowed).map(({ key, name }) => [`g ${key}`, name] as const),
  ['t', 'Light, dark or as the system'],
  ['z', 'Times of this place or UTC'],
  ['?', 'This help'],
  ['Esc', 'Close a dialog, or leave a field'],
]

/** What the keys of all pages do. */
interface Actions {
  help(): void
  theme(): void
  zone(): void
}

/** Follows the keys that work on every page. */
export function useKeys(actions: Actions): void {
  // Before the page is painted: who sees it can use its keys.
  useLayoutEffect(() => {
    let isGoing = false
    const follow = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey) return
      const target = event.target instanceof HTMLElement ? event.target : null
      if (target?.matches('input, textarea, select') === true) {
        if (event.key === 'Escape') target.blur()
        return
      }
      if (document.querySelector('dialog[open]') !== null) return
      const page = isGoing ? pages.find(({ key }) => key === event.key) : undefined
      isGoing = event.key === 'g' && !isGoing
      const action = page === undefined || !isAllowed(page)
        ? simpleAction(event.key, actions)
        : () => navigate(page.path)
      if (action === null) return
      event.preventDefault()
      action()
    }
    addEventListener('keydown', follow)
    return () => removeEventListener('keydown', follow)
  }, [])
}

function simpleAction(key: string, actions: Actions): (() => void) | null {
  if (key === '?') return actions.help
  if (key === 't') return actions.theme
  if (key === 'z') return actions.zone
  if (key === '/') return () => focusOn('[data-search]')
  if (key === 'j') return () => moveRow(1)
  if (key === 'k') return () => moveRow(-1)
  if (key === 'r') return doMainAction
  return null
}

/** What is done with ticked rows comes before what is done with the page. */
function doMainAction(): void {
  const action = document.querySelector<HTMLElement>('[data-main-action=first]') ??
    document.querySelector<HTMLElement>('[data-main-action]')
  action?.click()
}

function focusOn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus()
}

function moveRow(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
  const at = rows.findIndex((row) => row === document.activeElement)
  const next = at === -1 ? (by === 1 ? 0 : rows.length - 1) : at + by
  rows[next]?.focus()
  rows[next]?.scrollIntoView({ block: 'nearest' })
}
