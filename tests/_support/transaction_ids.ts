import { join } from 'node:path'
import { startPostgres } from '../../supabase/local/postgres/mod.ts'
import type { TestPostgres } from './postgres.ts'

/** How many ids have their states in one file, and in how many bytes. */
const perFile = 1_048_576
const fileBytes = 262_144

/** Ends a server, and starts it again on the same data with this next transaction id. Use only what it returns. */
export async function setTransactionId(pg: TestPostgres, next: number): Promise<TestPostgres> {
  await pg.halt()
  const data = join(pg.dataDir, 'pg')
  const name = Math.floor(next / perFile).toString(16).toUpperCase().padStart(4, '0')
  await Deno.writeFile(join(data, 'pg_xact', name), new Uint8Array(fileBytes))
  await own(join(data, 'pg_xact', name), data)
  const reset = await new Deno.Command(`${pg.binaries.bin}/pg_resetwal`, {
    args: [`--next-transaction-id=${next}`, '-D', data],
    ...await ownerOf(data),
  }).output()
  if (!reset.success) throw new Error(new TextDecoder().decode(reset.stderr))
  const started = await startPostgres({ dataDir: pg.dataDir, port: 'free', fsync: false })
  const { stop } = pg
  return {
    ...pg,
    ...started,
    stop: async () => {
      await started.stop()
      await stop()
    },
  }
}

/** The ids of who owns the files of the server, as whom its programs run. */
async function ownerOf(path: string): Promise<{ uid?: number; gid?: number }> {
  const { uid, gid } = await Deno.stat(path)
  return Deno.uid() === 0 && uid !== null && gid !== null ? { uid, gid } : {}
}

async function own(path: string, like: string): Promise<void> {
  const { uid, gid } = await Deno.stat(like)
  if (Deno.uid() === 0) await Deno.chown(path, uid, gid)
}
