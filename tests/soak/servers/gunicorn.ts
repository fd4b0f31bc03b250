import type { Recipe } from './recipe.ts'

const app = `def app(environ, start):
    environ['wsgi.input'].read()
    body = environ['HTTP_WEBHOOK_ID'].encode()
    start('200 OK', [('Content-Type', 'text/plain'), ('Content-Length', str(len(body)))])
    return [body]
`

/**
 * gunicorn with workers that end after 60 requests each, and that close an unused connection after a
 * second without stating it.
 */
export const gunicorn: Recipe = {
  name: 'gunicorn',
  files: () => ({ 'app.py': app }),
  command: ({ folder, port }) => [
    'gunicorn',
    ...['-w', '2', '-k', 'gthread', '--threads', '4', '--keep-alive', '1', '--max-requests', '60'],
    ...['--worker-tmp-dir', folder, '--bind', `127.0.0.1:${port}`, 'app:app'],
  ],
  scheme: 'http',
  path: '/',
  reload: 'SIGHUP',
}
