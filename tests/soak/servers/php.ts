import type { Recipe } from './recipe.ts'

/** PHP's own server. It closes each connection after its response. */
export const php: Recipe = {
  name: 'php',
  files: () => ({ 'index.php': "<?php echo $_SERVER['HTTP_WEBHOOK_ID'];\n" }),
  command: ({ port }) => [
    'env',
    'PHP_CLI_SERVER_WORKERS=4',
    'php',
    '-S',
    `127.0.0.1:${port}`,
    'index.php',
  ],
  scheme: 'http',
  path: '/',
  reload: null,
}
