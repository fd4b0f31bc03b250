import { extname, join } from 'node:path'
import { runTool } from '../../package/build/run_tool.ts'
import { consoleTools } from './tools.ts'

/** A file of the built page. */
export interface StaticFile {
  bytes: Uint8Array<ArrayBuffer>
  /** The value of content-type. */
  type: string
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * Builds the page with esbuild, which takes less than a second, and returns its files by path. The
 * document is `/`; all others are below `/assets/`. The chart, and views that are opened less often,
 * are files of their own, which the page loads when it first shows them. `metafile`: where esbuild
 * writes what the page was built from.
 */
export async function buildPage(
  root: string,
  log?: (line: string) => void,
  metafile?: string,
): Promise<Map<string, StaticFile>> {
  const modules = await consoleTools(root, log)
  const page = join(root, 'console', 'page')
  const out = await Deno.makeTempDir({ prefix: 'outhook-console-' })
  try {
    await runTool(join(modules, '.bin', 'esbuild'), [
      join(page, 'main.tsx'),
      join(page, 'style.css'),
      '--bundle',
      '--splitting',
      '--minify',
      '--format=esm',
      '--platform=browser',
      '--target=es2022',
      '--jsx=automatic',
      '--jsx-import-source=preact',
      '--log-level=warning',
      '--chunk-names=[name]-[hash]',
      `--outdir=${out}`,
      ...metafile === undefined ? [] : [`--metafile=${metafile}`],
    ], { cwd: root, env: { NODE_PATH: modules } })
    const files = new Map<string, StaticFile>()
    for await (const { name } of Deno.readDir(out)) {
      files.set(`/assets/${name}`, await readFile(join(out, name)))
    }
    files.set('/assets/icon.svg', await readFile(join(page, 'icon.svg')))
    files.set('/', await readFile(join(page, 'index.html')))
    return files
  } finally {
    await Deno.remove(out, { recursive: true })
  }
}

async function readFile(path: string): Promise<StaticFile> {
  return {
    bytes: await Deno.readFile(path),
    type: types[extname(path)] ?? 'application/octet-stream',
  }
}
