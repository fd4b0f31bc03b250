/** `deno task ok`: format, lint rules and types. */

import { projectRoot } from './schema/project.ts'

const CHECKS = [
  ['fmt', '--check'],
  ['lint'],
  [
    'check',
    'supabase',
    'functions',
    'consumer',
    'package',
    'console/main.ts',
    'console/build',
    'portal/main.ts',
    'portal/catalogue',
    'tests',
  ],
  // The pages run in a browser: their types are those of the DOM.
  [
    'check',
    '--config',
    'console/page/deno.json',
    'console/page',
    'portal/element',
    'portal/page',
  ],
]

/** Runs the checks in order; exits with the code of the first that fails. */
export async function main(): Promise<never> {
  for (const args of CHECKS) {
    const { code } = await new Deno.Command(Deno.execPath(), { args, cwd: projectRoot }).spawn()
      .status
    if (code !== 0) Deno.exit(code)
  }
  Deno.exit(0)
}
