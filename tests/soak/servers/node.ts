import type { Recipe } from './recipe.ts'

/** The first process starts a new worker, and ends the old one when the new one listens. */
const program = `import cluster from 'node:cluster'
import { createServer } from 'node:http'

if (cluster.isPrimary) {
  let worker = cluster.fork()
  process.on('SIGHUP', () => {
    const old = worker
    worker = cluster.fork()
    worker.once('listening', () => old.disconnect())
  })
} else {
  createServer({ keepAliveTimeout: 1_000 }, (request, response) => {
    request.resume().on('end', () => response.end(request.headers['webhook-id']))
  }).listen(Number(process.env.PORT), '127.0.0.1')
}
`

/** Node's own server in a cluster. It states for how long it keeps a connection open. */
export const node: Recipe = {
  name: 'node',
  files: () => ({ 'server.mjs': program }),
  command: ({ port }) => ['env', `PORT=${port}`, 'node', 'server.mjs'],
  scheme: 'http',
  path: '/',
  reload: 'SIGHUP',
}
