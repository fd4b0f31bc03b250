const shownCharacters = 200

/** The JSON text of a value of a schema, for the text of a problem: up to 200 characters. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text
}
