import type { StaticFile } from '../../../console/build/build.ts'

export interface FileSize {
  path: string
  bytes: number
  /** With gzip. */
  compressed: number
}

/** The sizes of the files of the page, the largest first. */
export async function compressedSizes(
  files: ReadonlyMap<string, StaticFile>,
): Promise<FileSize[]> {
  const sizes = await Promise.all([...files].map(async ([path, { bytes }]) => {
    const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'))
    const compressed = (await new Response(stream).arrayBuffer()).byteLength
    return { path, bytes: bytes.byteLength, compressed }
  }))
  return sizes.sort((a, b) => b.compressed - a.compressed)
}

export function totalOf(sizes: readonly FileSize[]): number {
  return sizes.reduce((sum, { compressed }) => sum + compressed, 0)
}

/** The files that the page needs before it shows something: what its main module imports statically. */
export function firstLoad(files: ReadonlyMap<string, StaticFile>): Set<string> {
  const needed = new Set(['/', '/assets/main.js', '/assets/style.css', '/assets/icon.svg'])
  for (const path of needed) {
    const text = path.endsWith('.js') ? new TextDecoder().decode(files.get(path)?.bytes) : ''
    // A dynamic import has a parenthesis before the quote.
    for (const [, name] of text.matchAll(/\b(?:from|import)"\.\/([\w.-]+\.js)"/g)) {
      needed.add(`/assets/${name}`)
    }
  }
  return needed
}
