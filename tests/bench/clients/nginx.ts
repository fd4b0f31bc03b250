export interface EchoPlace {
  folder: string
  certFile: string
  keyFile: string
  plain: number[]
  tls: number[]
  http2: number
  /** The port of the server behind `/slow`. */
  slow: number
}

/** nginx listens on all addresses of the loopback, so each address and port is an origin of its own. */
export function configuration(
  { folder, certFile, keyFile, plain, tls, http2, slow }: EchoPlace,
): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')
  const listens = [
    ...plain.map((port) => `listen ${port};`),
    ...tls.map((port) => `listen ${port} ssl;`),
    `listen ${http2} ssl http2;`,
  ]
  return `daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
worker_processes 1;
worker_rlimit_nofile 16384;
events { worker_connections 8192; }
http {
  access_log off;
  ${temporary}
  ssl_certificate ${certFile};
  ssl_certificate_key ${keyFile};
  keepalive_requests 100000;
  upstream slow {
    server 127.0.0.1:${slow};
    keepalive 256;
  }
  server {
    ${listens.join('\n    ')}
    default_type text/plain;
    location / { return 200 $http_webhook_id; }
    location /slow {
      proxy_pass http://slow;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`
}

/** A program for Node: it echoes \`webhook-id\` after 20 ms. */
export function slowServer(port: number): string {
  return `import { createServer } from 'node:http'

createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume()
  setTimeout(() => response.end(request.headers['webhook-id']), 20)
}).listen(${port}, '127.0.0.1')
`
}
