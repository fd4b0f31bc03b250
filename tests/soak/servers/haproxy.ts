import type { Recipe } from './recipe.ts'

/** HAProxy as the receiver. A new worker takes over the listening sockets. */
export const haproxy: Recipe = {
  name: 'haproxy',
  files: ({ folder, port }) => ({
    'haproxy.cfg': `global
  stats socket ${folder}/haproxy.sock expose-fd listeners
defaults
  mode http
  option http-buffer-request
  timeout client 30s
  timeout server 30s
  timeout connect 5s
  timeout http-keep-alive 1s
frontend receiver
  bind 127.0.0.1:${port}
  http-request return status 200 content-type text/plain lf-string %[req.hdr(webhook-id)]
`,
  }),
  command: ({ folder }) => ['haproxy', '-W', '-f', `${folder}/haproxy.cfg`],
  scheme: 'http',
  path: '/',
  reload: 'SIGUSR2',
}
