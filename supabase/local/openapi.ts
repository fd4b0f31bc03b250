import { join } from 'node:path'
import { createApp } from '../../functions/api/app.ts'
import { describeApi } from '../../functions/api/openapi.ts'
import { ApiError } from '../../functions/api/errors.ts'
import {
  clientOperationsFile,
  clientOperationsText,
  clientTypesFile,
  clientTypesText,
  typeGenerator,
} from '../../package/build/client_types.ts'
import { checkFlags, runCommand, type Values } from './command.ts'
import { ensureTool } from './npm_tool.ts'
import { print, printError } from './print.ts'
import { projectRoot } from './schema/project.ts'

const help =
  `Write functions/api/openapi.json from the schemas of the API, and the types of the package's client
from openapi.json.

  npx -y deno@2.9.6 task openapi [--check]

  --check  only compare
  --help   show this`

/** The path of the description from the project's root. */
export const openapiFile = 'functions/api/openapi.json'

function noDatabase(): Promise<{ ok: false; error: string }> {
  return Promise.resolve({ ok: false, error: 'There is no database' })
}

/** The text of the file. */
export function describeText(): string {
  const app = createApp({
    database: { call: () => Promise.reject(new ApiError('unavailable', 'There is no database')) },
    callbacks: { findApp: noDatabase, store: noDatabase },
    authenticate: () => Promise.reject(new ApiError('unauthenticated', 'There are no keys')),
    portalSecrets: [],
    verifySecrets: [],
    checkChannel: () => Promise.resolve([]),
    corsOrigins: [],
    wallNow: Date.now,
    now: () => performance.now(),
    sleep: () => Promise.resolve(),
    log: () => {},
  })
  return JSON.stringify(describeApi(app), null, 2) + '\n'
}

/** The files that the task writes, by path, with their texts. */
async function generatedFiles(): Promise<Map<string, string>> {
  const description = describeText()
  const programs = await ensureTool(projectRoot, ...typeGenerator)
  return new Map([
    [openapiFile, description],
    [clientOperationsFile, clientOperationsText(description)],
    [clientTypesFile, await clientTypesText(programs, description)],
  ])
}

async function run({ check }: Values<typeof checkFlags>): Promise<number> {
  let code = 0
  for (const [name, text] of await generatedFiles()) {
    const path = join(projectRoot, name)
    if (await Deno.readTextFile(path).catch(() => '') === text) {
      print(`${name} is up to date`)
    } else if (check) {
      printError(`${name} differs from the schemas: run \`deno task openapi\` and commit it`)
      code = 1
    } else {
      await Deno.writeTextFile(path, text)
      print(`Wrote ${name}`)
    }
  }
  return code
}

export const main = (): Promise<never> => runCommand({ help, flags: checkFlags, run })

if (import.meta.main) await main()
