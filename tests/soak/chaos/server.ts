/** The database server, on the same port and files through all its deaths. */

import postgres, { type Sql } from 'postgres'
import { startFirstTicks } from '../../../supabase/local/first_ticks.ts'
import { type Postgres, startPostgres } from '../../../supabase/local/postgres/mod.ts'
import { freePort } from '../../../supabase/local/process/ports.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { canMoveClocks, type Clock, makeClock } from './clock.ts'
import { copyPrepared } from '../../_support/prepared.ts'

/** How long a start may take, with all the recovery and a port that is taken for a moment. */
const START_MS = 120_000

/** What only the server knows of itself while it runs. */
interface Life {
  postgres: Postgres
  isOver: boolean
  ticks: { stop(): Promise<void> }
}

export class Server {
  readonly #dataDir: string
  readonly #port = freePort()
  /** Null: the machine's. */
  readonly #clock: Clock | null
  #clockTurn: Promise<unknown> = Promise.resolve()
  #life: Life | null = null
  #bin = ''
  #turn: Promise<unknown> = Promise.resolve()
  /** The last error of tell(); null: there was none. */
  problem: unknown = null

  private constructor(dataDir: string, clock: Clock | null) {
    this.#dataDir = dataDir
    this.#clock = clock
  }

  /**
   * Starts one with the migrations, whose commits survive its death; its write-ahead log is in the folder
   * `walDir`, if there is one.
   */
  static async start(dataDir: string, walDir: string | null = null): Promise<Server> {
    await copyPrepared(dataDir, 'migrations')
    if (walDir !== null) await moveWal(`${dataDir}/pg/pg_wal`, `${walDir}/pg_wal`)
    const clock = canMoveClocks ? await makeClock({ threads: false }) : null
    const server = new Server(dataDir, clock)
    await server.up()
    return server
  }

  get port(): number {
    return this.#port
  }

  /** Where the programs of Postgres are, also while the server is down. */
  get bin(): string {
    return this.#bin
  }

  url(login: 'postgres' | 'supabase_admin' | 'authenticator', port = this.#port): string {
    return `postgresql://${login}:postgres@127.0.0.1:${port}/postgres`
  }

  /** One at a time: two faults that stop or start the server take turns. */
  async inTurn<T>(act: () => Promise<T>): Promise<T> {
    const before = this.#turn
    const done = Promise.withResolvers<void>()
    this.#turn = done.promise
    await before
    try {
      return await act()
    } finally {
      done.resolve()
    }
  }

  /** Starts it, if it does not run. */
  async up(): Promise<void> {
    if (this.#life !== null && !this.#life.isOver) {
      return await this.#answers()
    }
    await this.#bury()
    let problem: unknown
    const begin = async (): Promise<boolean> => {
      try {
        this.#life = await this.#begin()
        return true
      } catch (error) {
        problem = error
        return false
      }
    }
    if (!await waitUntil(begin, { timeoutMs: START_MS, everyMs: 250 })) throw problem
    await this.#answers()
  }

  async #begin(): Promise<Life> {
    const postgres = await startPostgres({
      dataDir: this.#dataDir,
      port: this.#port,
      env: this.#clock?.env ?? {},
    })
    this.#bin = postgres.binaries.bin
    const ticks = startFirstTicks({ dbUrl: this.url('postgres'), log: () => {} })
    const life = { postgres, isOver: false, ticks }
    void postgres.ended.then(() => life.isOver = true)
    return life
  }

  /** It may be up and recover from the death of one of its processes. */
  async #answers(): Promise<void> {
    const asks = async (): Promise<boolean> =>
      await this.tell((sql) => sql`select pg_is_in_recovery()`)
    if (!await waitUntil(asks, { timeoutMs: START_MS, everyMs: 100 })) {
      throw new Error('the database server does not answer')
    }
  }

  async #bury(): Promise<void> {
    const life = this.#life
    this.#life = null
    if (life === null) return
    // Its connection is dead, and may not notice.
    await within(life.ticks.stop(), 3_000)
    await life.postgres.stop()
  }

  /** Kills the server's first process with -9, and the others end by themselves. */
  async kill(): Promise<void> {
    const file = await Deno.readTextFile(`${this.#dataDir}/pg/postmaster.pid`)
    Deno.kill(Number(file.split('\n')[0]), 'SIGKILL')
    await this.#alive().postgres.ended
  }

  /** Lets `act` move its clock. One at a time. */
  async withClock(act: (set: Clock['set']) => Promise<void>): Promise<void> {
    const clock = this.#clock
    if (clock === null) throw new Error('the clock of the database cannot be moved')
    const mine = this.#clockTurn.then(() => act(clock.set))
    this.#clockTurn = mine.catch(() => {})
    await mine
  }

  /** Stops it in order, for good. */
  async end(): Promise<void> {
    await this.down()
    await this.#clock?.remove()
  }

  /** Stops it in order. */
  async down(): Promise<void> {
    await this.#bury()
  }

  /** Ticks until the first full minute, when pg_cron before 1.5 begins again. */
  async tickAtOnce(): Promise<void> {
    const life = this.#life
    if (life === null || life.isOver) return
    await within(life.ticks.stop(), 3_000)
    life.ticks = startFirstTicks({ dbUrl: this.url('postgres'), log: () => {} })
  }

  /** Does something as the superuser over a connection of its own; false if the database refuses or is away. */
  async tell(act: (sql: Sql) => Promise<unknown>): Promise<boolean> {
    const sql = postgres(this.url('supabase_admin'), {
      max: 1,
      connect_timeout: 5,
      onnotice: () => {},
      connection: { application_name: 'chaos' },
    })
    try {
      const work = async (): Promise<boolean> => {
        await sql`set default_transaction_read_only = off`
        await act(sql)
        return true
      }
      const done = await within(work(), 30_000)
      return done === true
    } catch (error) {
      this.problem = error
      return false
    } finally {
      await sql.end({ timeout: 0 }).catch(() => {})
    }
  }

  /** The same until it succeeds; throws if it never does. */
  async surely(what: string, act: (sql: Sql) => Promise<unknown>): Promise<void> {
    const done = await waitUntil(() => this.tell(act), { timeoutMs: START_MS, everyMs: 200 })
    if (!done) throw new Error(`${what} did not succeed: ${this.problem}`)
  }

  #alive(): Life {
    if (this.#life === null) throw new Error('the database server is down')
    return this.#life
  }
}

/** Its value, or undefined if it takes longer. */
export async function within<T>(work: Promise<T> | undefined, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<undefined>((resolve) => timer = setTimeout(() => resolve(undefined), ms))
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Moves the write-ahead log of a stopped server to another file system. */
async function moveWal(from: string, to: string): Promise<void> {
  const { success, stderr } = await new Deno.Command('mv', { args: [from, to] }).output()
  if (!success) throw new Error(new TextDecoder().decode(stderr))
  await Deno.symlink(to, from)
}
