import { relative, resolve } from 'node:path'
import { runCommand, type Values } from './command.ts'
import { SetupError } from './errors.ts'
import { exists } from './exists.ts'
import { print, printError } from './print.ts'
import { projectRoot } from './schema/project.ts'
import { bundleForNode } from './worker/bundle.ts'

const help = `Build the worker as one file for Node.js 20 or newer.

  npx -y deno@2.9.6 task build:worker [--entry <module>] [--output <file>]

  --entry <module>  a worker with more kinds of endpoints: a module that exports main()
  --output <file>   where to write it; by default dist/worker.mjs
  --help            show this

Then start it with \`dist/worker.mjs\` or \`node dist/worker.mjs\`: docs/environment.md lists its
environment variables.`

const flags = {
  entry: { type: 'string', default: 'functions/deliver/worker.ts' },
  output: { type: 'string', default: 'dist/worker.mjs' },
} as const

async function run({ entry = '', output = '' }: Values<typeof flags>): Promise<number> {
  const path = resolve(projectRoot, entry)
  if (!await exists(path)) {
    throw new SetupError(`There is no module ${entry}: name one with --entry`)
  }
  const from = relative(projectRoot, path)
  if (from.startsWith('..')) throw new SetupError(`${entry} is outside of the project`)
  await bundleForNode({ entry: from, output: resolve(projectRoot, output), log: printError })
  print(`Wrote ${output}`)
  return 0
}

export const main = (): Promise<never> => runCommand({ help, flags, run })

if (import.meta.main) await main()
