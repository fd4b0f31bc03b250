import { join } from 'node:path'
import { createApp } from '../../functions/api/app.ts'
import { describeApi } from '../../functions/api/openapi.ts'
import { ApiError } from '../../functions/api/errors.ts'
import { checkFlags, runCommand, type Values } from './command.ts'
import { print, printError } from './print.ts'
import { projectRoot } from './schema/project.ts'

const help = `Write functions/api/openapi.json from the schemas of the API.

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
    corsOrigins: [],
    wallNow: Date.now,
    now: () => performance.now(),
    sleep: () => Promise.resolve(),
    log: () => {},
  })
  return JSON.stringify(describeApi(app), null, 2) + '\n'
}

async function run({ check }: Values<typeof checkFlags>): Promise<number> {
  const path = join(projectRoot, openapiFile)
  const text = describeText()
  if (check) {
    if (await Deno.readTextFile(path).catch(() => '') === text) {
      print(`${openapiFile} is up to date`)
      return 0
    }
    printError(`${openapiFile} differs from the schemas: run \`deno task openapi\` and commit it`)
    return 1
  }
  await Deno.writeTextFile(path, text)
  print(`Wrote ${openapiFile}`)
  return 0
}

export const main = (): Promise<never> => runCommand({ help, flags: checkFlags, run })

if (import.meta.main) await main()
