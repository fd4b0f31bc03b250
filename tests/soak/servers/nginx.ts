import type { Place, Recipe } from './recipe.ts'

/** nginx: a reload closes each kept connection of the old workers while requests come. */
export const nginx: Recipe = {
  name: 'nginx',
  files: (place) => ({ 'nginx.conf': configuration(place) }),
  command: ({ folder }) => ['nginx', '-p', folder, '-c', `${folder}/nginx.conf`],
  scheme: 'http',
  path: '/',
  reload: 'SIGHUP',
}

/** The same with TLS, which ends a connection with an alert and then the connection itself. */
export const nginxTls: Recipe = {
  ...nginx,
  name: 'nginx with TLS',
  files: (place) => ({ 'nginx.conf': configuration(place, true) }),
  scheme: 'https',
}

function configuration({ folder, port, certFile, keyFile }: Place, tls = false): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')
  return `daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
worker_processes 2;
events { worker_connections 256; }
http {
  access_log off;
  ${temporary}
  server {
    listen 127.0.0.1:${port}${tls ? ' ssl' : ''};
    ${tls ? `ssl_certificate ${certFile};\n    ssl_certificate_key ${keyFile};` : ''}
    keepalive_requests 40;
    location / {
      default_type text/plain;
      return 200 $http_webhook_id;
    }
  }
}
`
}
