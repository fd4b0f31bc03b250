import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StaticFile } from '../../../console/build/build.ts'

/** By the path of each file of the page: its file beside the index, and its content-type. */
export type ConsoleIndex = Record<string, { file: string; type: string }>

/** Reads the page of the console that the build put into a folder. */
export function readConsole(folder: string): Map<string, StaticFile> {
  // SAFETY: the build writes this file together with the command.
  const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as ConsoleIndex
  return new Map(
    Object.entries(index).map(([path, { file, type }]) => [
      path,
      { bytes: new Uint8Array(readFileSync(join(folder, file))), type },
    ]),
  )
}
