import { join } from 'node:path'
import { npm } from '../../supabase/local/npm_tool.ts'

/** A packed package. */
export interface Packed {
  tarball: string
  version: string
  /** Bytes of the tarball, and of its files. */
  size: number
  unpackedSize: number
  files: { path: string; size: number }[]
}

/** Packs the package in `folder` into a tarball in the folder `out`. */
export async function pack(folder: string, out: string): Promise<Packed> {
  const said = await npm(['pack', '--json', '--pack-destination', out], folder)
  // SAFETY: npm pack --json prints an array with an object for each package.
  const [packed] = JSON.parse(said) as [Omit<Packed, 'tarball'> & { filename: string }]
  const { filename, version, size, unpackedSize, files } = packed
  return { tarball: join(out, filename), version, size, unpackedSize, files }
}
