/** The colours: as the system has them, or light or dark in this browser. */
export type Theme = 'system' | 'light' | 'dark'

const key = 'outhook-theme'
const themes: readonly Theme[] = ['system', 'light', 'dark']

export function currentTheme(): Theme {
  const stored = localStorage.getItem(key)
  return themes.find((theme) => theme === stored) ?? 'system'
}

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme
  if (theme === 'system') localStorage.removeItem(key)
  else localStorage.setItem(key, theme)
  // Charts are pictures, which must be drawn again in the new colours.
  dispatchEvent(new Event('outhook-theme'))
}

export function nextTheme(theme: Theme): Theme {
  return themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system'
}
