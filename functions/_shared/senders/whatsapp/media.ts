type MediaFields = {
  id?: string | undefined
  link?: string | undefined
  caption?: string | undefined
  filename?: string | undefined
}

/** A media object of the Graph API, without absent members. */
export function mediaObject({ id, link, caption, filename }: MediaFields): Record<string, string> {
  return defined({ id, link, caption, filename })
}

/** The members that have a value. */
export function defined<T>(fields: Record<string, T | undefined>): Record<string, T> {
  const kept: Record<string, T> = {}
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) kept[name] = value
  return kept
}
