import { npm } from '../../../supabase/local/npm_tool.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

/** What `npm publish --dry-run` prints. It asks a registry on this machine that knows no package. */
export async function publishDry(tarball: string): Promise<string> {
  const registry = Deno.serve(
    { hostname: '127.0.0.1', port: 0, onListen: () => {} },
    () => new Response('{"error":"not_found"}', { status: 404 }),
  )
  try {
    const url = `--registry=http://127.0.0.1:${registry.addr.port}/`
    return await npm(['publish', '--dry-run', '--json', url, tarball], projectRoot)
  } finally {
    await registry.shutdown()
  }
}
