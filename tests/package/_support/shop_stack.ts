import { join } from 'node:path'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { type Stack, startStack } from '../../../supabase/local/stack.ts'
import { databaseFolder } from '../../_support/folder.ts'
import { copyPrepared } from '../../_support/prepared.ts'
import type { Shop } from './shop.ts'

/** The local stack on a project that `init` has changed, configured for its function `deliver`. */
export interface ShopStack {
  readonly stack: Stack
  /** The statement that stores the URL of this function, with a secret. */
  configure(folder: string, secret?: string): string
  /** Runs SQL as postgres; rejects if it fails. */
  run(sql: string): Promise<{ stdout: string }>
  /** Starts the stack again on the same data, with the files as they are now. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Starts the stack on the project. */
export async function startShop({ path }: Pick<Shop, 'path'>): Promise<ShopStack> {
  const dataDir = databaseFolder()
  await copyPrepared(dataDir, 'platform')
  const start = (): Promise<Stack> =>
    startStack({
      dataDir,
      projectDir: path,
      ports: 'free',
      fsync: false,
      ticksAtOnce: true,
      log: () => {},
    })
  let stack = await start()

  function configure(folder: string, secret = stack.keys.workerSecret): string {
    return `select outbox.configure('${stack.apiUrl}/functions/v1/${folder}', '${secret}')`
  }

  async function run(sql: string): Promise<{ stdout: string }> {
    const { code, stdout, stderr } = await stack.psql(sql)
    if (code !== 0) throw new Error(`${sql}: ${stderr}`)
    return { stdout }
  }

  // The seed of this repository allows local addresses; a project has its own.
  await run(await Deno.readTextFile(join(projectRoot, 'supabase/seed.sql')))
  await run(configure('outhook-deliver'))
  return {
    get stack() {
      return stack
    },
    configure,
    run,
    async restart(): Promise<void> {
      await stack.stop()
      stack = await start()
      const installed = await run("select to_regnamespace('outbox') is not null")
      if (installed.stdout === 't') await run(configure('outhook-deliver'))
    },
    async stop(): Promise<void> {
      await stack.stop()
      await Deno.remove(dataDir, { recursive: true })
    },
  }
}
