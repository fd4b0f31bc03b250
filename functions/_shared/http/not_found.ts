import type { Context } from 'hono'
import { allowedMethods, type Route } from './allowed_methods.ts'
import { problemResponse } from './problem.ts'

/**
 * Creates the handler for requests that no route handles: 405 with `Allow` if the path has other
 * methods, else 404. With `hint`, which names the right path, the text does not repeat the path.
 */
export function notFound(
  { routes }: { routes: readonly Route[] },
  hint: string | null = null,
): (c: Context) => Response {
  return function notFoundHandler(c): Response {
    const allowed = allowedMethods(routes, c.req.path)
    if (allowed.length === 0) {
      return problemResponse({
        status: 404,
        code: 'not_found',
        title: 'Not found',
        detail: hint === null
          ? `This function has no ${c.req.method} ${c.req.path.slice(0, 200)}`
          : `This function has no ${c.req.method} at this path: ${hint}`,
      })
    }
    const response = problemResponse({
      status: 405,
      code: 'method_not_allowed',
      title: 'Method not allowed',
      detail: `This path has no ${c.req.method}: use ${allowed.join(', ')}`,
    })
    response.headers.set('allow', allowed.join(', '))
    return response
  }
}
