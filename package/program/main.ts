#!/usr/bin/env node
/** The program of the package `outhook`: runs the command, which is in the package `outhook-command`. */

import { createRequire } from 'node:module'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { version } from '../../functions/_shared/base/version.ts'

/** The file of the command: that of the current folder, otherwise the one beside this package. */
function findCommand(): string | null {
  for (const from of [pathToFileURL(`${process.cwd()}/`), import.meta.url]) {
    try {
      return createRequire(from).resolve('outhook-command/outhook.js')
    } catch {
      // It is not installed there.
    }
  }
  return null
}

const command = findCommand()
if (command === null) {
  process.stderr.write(
    `The package outhook has no command: it is in the package outhook-command, which is not installed.
Install the file outhook-command-${version}.tgz with npm install --save-dev, and repeat this command.
See docs/add-to-your-project.md#build-the-packages
`,
  )
  process.exitCode = 1
} else {
  await import(pathToFileURL(command).href)
}
