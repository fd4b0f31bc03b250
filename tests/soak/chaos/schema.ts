import type { Sql } from 'postgres'
import type { Release } from '../../../supabase/local/schema/release.ts'
import type { Server } from './server.ts'
import { firstVersion, nextVersion, replaceFunctions } from './upgrades.ts'

/** The version of the schema of a server, which upgrades only raise. */
export class Schema {
  readonly #server: Server
  #release: Promise<Release> = firstVersion()
  #turn: Promise<unknown> = Promise.resolve()

  constructor(server: Server) {
    this.#server = server
  }

  /** Applies the migrations of the next version, as an operator does: each in its transaction, again if it failed. */
  async upgrade(): Promise<void> {
    await this.#inTurn(async () => {
      const { release, migrations } = nextVersion(await this.#release)
      for (const [module, text] of migrations) {
        await this.#server.surely(`the upgrade of ${module} to ${release.version}`, async (sql) => {
          // The response to the last COMMIT may have been lost.
          if (await versionOf(sql, module) === release.version) return
          await sql.unsafe(`begin; set local role postgres; ${text}; commit`).simple()
        })
      }
      this.#release = Promise.resolve(release)
    })
  }

  /** Replaces all functions in one transaction; does nothing if a lock is not free. */
  async replace(): Promise<void> {
    await this.#inTurn(async () => {
      const statements = replaceFunctions(await this.#release)
      await this.#server.tell((sql) =>
        sql.unsafe(
          `begin; set local lock_timeout = '1s'; set local role postgres; ${statements}; commit`,
        ).simple()
      )
    })
  }

  /** One after the other. */
  async #inTurn(work: () => Promise<void>): Promise<void> {
    const mine = this.#turn.then(work)
    this.#turn = mine.catch(() => {})
    await mine
  }
}

async function versionOf(sql: Sql, module: string): Promise<string | undefined> {
  const [row] = await sql<{ version: string }[]>`
    select version from outbox.installed_module where name = ${module}`
  return row?.version
}
