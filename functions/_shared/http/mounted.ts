/** Handles a request; `info` is what the server knows of the connection. */
type Handle<Info> = (request: Request, info: Info) => Response | Promise<Response>

/**
 * Lets a function run under another name in a project than here: the platform puts the name of the
 * function before each path. A path may also have both names, because a kick adds `/deliver` to the
 * URL that `configure` got.
 */
export function mounted<Info>(name: string, handle: Handle<Info>): Handle<Info> {
  return function handleMounted(request, info): Response | Promise<Response> {
    const url = new URL(request.url)
    const path = ownPath(url.pathname, name)
    if (path === url.pathname) return handle(request, info)
    url.pathname = path
    return handle(new Request(url, request), info)
  }
}

/** `/outhook-api/v1/events` and `/outhook-api/api/v1/events` become `/api/v1/events`. */
function ownPath(path: string, name: string): string {
  const [, first, ...rest] = path.split('/')
  if (first === name) return path
  return rest[0] === name ? `/${rest.join('/')}` : ['', name, ...rest].join('/')
}
