import { join } from 'node:path'
import { consoleTools } from '../../console/build/tools.ts'
import { runTool } from '../../package/build/run_tool.ts'

/** The built files by name: the module of the element, the wrapper for React, the hosted page. */
export type PortalFiles = Map<string, Uint8Array<ArrayBuffer>>

/**
 * Builds the element as one ES module, and the files beside it. `metafile`: where esbuild writes what the
 * element was built from.
 */
export async function buildPortal(
  root: string,
  log?: (line: string) => void,
  metafile?: string,
): Promise<PortalFiles> {
  const modules = await consoleTools(root, log)
  const esbuild = join(modules, '.bin', 'esbuild')
  const portal = join(root, 'portal')
  const out = await Deno.makeTempDir({ prefix: 'outhook-portal-' })
  const run = (args: string[]): Promise<unknown> =>
    runTool(esbuild, [...args, '--minify', '--target=es2022,chrome123', '--log-level=warning'], {
      cwd: root,
      env: { NODE_PATH: modules },
    })
  try {
    await run([join(portal, 'element', 'portal.css'), `--outfile=${join(out, 'element.css')}`])
    // The style is part of the module, so that the element is one file.
    const style = (await Deno.readTextFile(join(out, 'element.css'))).trim()
    const bundle = (from: string, to: string, ...more: string[]): Promise<unknown> =>
      run([
        from,
        '--bundle',
        '--format=esm',
        '--platform=browser',
        '--jsx=automatic',
        '--jsx-import-source=preact',
        `--define:PORTAL_STYLE=${JSON.stringify(style)}`,
        `--outfile=${join(out, to)}`,
        ...more,
      ])
    await bundle(
      join(portal, 'element', 'main.ts'),
      'outhook-portal.js',
      ...metafile === undefined ? [] : [`--metafile=${metafile}`],
    )
    await bundle(join(portal, 'page', 'main.ts'), 'page.js')
    const read = (path: string): Promise<Uint8Array<ArrayBuffer>> => Deno.readFile(path)
    return new Map([
      ['outhook-portal.js', await read(join(out, 'outhook-portal.js'))],
      ['react.js', await read(join(portal, 'react.js'))],
      ['page.js', await read(join(out, 'page.js'))],
      ['page.css', await read(join(portal, 'page', 'page.css'))],
      ['index.html', await read(join(portal, 'page', 'index.html'))],
    ])
  } finally {
    await Deno.remove(out, { recursive: true })
  }
}
