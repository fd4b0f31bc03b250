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
