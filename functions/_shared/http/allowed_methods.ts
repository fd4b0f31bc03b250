/** A route as Hono lists it. */
export type Route = { method: string; path: string }

/**
 * The methods that a path has, for the header `Allow` of a 405 (RFC 9110 section 15.5.6); an empty
 * list if no route has the path. Hono answers HEAD wherever it answers GET.
 */
export function allowedMethods(routes: readonly Route[], path: string): string[] {
  const found = new Set<string>()
  for (const route of routes) {
    if (route.method === 'ALL' || !matches(route.path, path)) continue
    found.add(route.method)
    if (route.method === 'GET') found.add('HEAD')
  }
  return [...found].sort()
}

/** Whether a path is of a pattern such as `/deliver/:id`; a slash at the end counts. */
function matches(pattern: string, path: string): boolean {
  const expected = pattern.split('/')
  const given = path.split('/')
  return expected.length === given.length &&
    expected.every((part, at) => part.startsWith(':') ? given[at] !== '' : part === given[at])
}
