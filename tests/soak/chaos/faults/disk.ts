import { type Family, pause } from '../fault.ts'

/** The file system of the data and the WAL is full. */
export const diskFaults: Family = {
  async 'disk full'({ world: { disk, server }, ms }): Promise<void> {
    await server.inTurn(async () => {
      await disk.fill()
      // With another segment of WAL to write, the server may end.
      await server.tell((sql) => sql`select pg_switch_wal()`)
      await pause(ms)
      await disk.free()
      await server.up()
    })
  },
}
