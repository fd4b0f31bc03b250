import { join } from 'node:path'
import { testFolder } from '../../_support/folder.ts'
import { startOuthook, type TestOuthook } from '../../_support/outhook.ts'
import { builtCommand } from './built.ts'
import { type Program, startProgram } from './program.ts'
import { type Ended, type Shop, shopIn } from './shop.ts'

/** A project with the packed command, and a stack whose API the command calls. */
export interface ApiShop {
  project: Shop
  outhook: TestOuthook
  /** The variables that name the stack. */
  env: Record<string, string>
  run(...args: string[]): Promise<Ended>
  /** Starts a command that does not end by itself. */
  start(args: readonly string[], more?: Record<string, string>): Program
  stop(): Promise<void>
}

/** Builds the command, installs it, and starts the stack. */
export async function startApiShop(): Promise<ApiShop> {
  const root = testFolder()
  const tarball = await builtCommand(root)
  const project = await shopIn(root, tarball)
  const outhook = await startOuthook({ only: ['deliver', 'api'] })
  const { apiUrl, keys } = outhook.stack
  const env = { SUPABASE_URL: apiUrl, SUPABASE_SECRET_KEY: keys.secretKey }
  return {
    project,
    outhook,
    env,
    run: (...args) => project.runWith(env, ...args),
    start(args, more = {}): Program {
      const command = join(project.path, 'node_modules/.bin/outhook')
      return startProgram([command, ...args], project.path, { ...env, ...more })
    },
    async stop(): Promise<void> {
      await outhook.stop()
      await Deno.remove(root, { recursive: true })
    },
  }
}
