import type { Recipe } from './recipe.ts'

const script = `cat > /dev/null
printf 'Content-Type: text/plain\\r\\n\\r\\n%s' "$HTTP_WEBHOOK_ID"
`

/** lighttpd with a CGI script. A reload ends the process and starts it again with the same sockets. */
export const lighttpd: Recipe = {
  name: 'lighttpd',
  files: ({ folder, port }) => ({
    'echo.sh': script,
    'lighttpd.conf': `server.document-root = "${folder}"
server.bind = "127.0.0.1"
server.port = ${port}
server.errorlog = "${folder}/error.log"
server.modules = ( "mod_cgi" )
server.max-keep-alive-idle = 1
cgi.assign = ( ".sh" => "/bin/sh" )
`,
  }),
  command: ({ folder }) => ['lighttpd', '-D', '-f', `${folder}/lighttpd.conf`],
  scheme: 'http',
  path: '/echo.sh',
  reload: 'SIGUSR1',
}
