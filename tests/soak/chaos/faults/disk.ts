import type { Disk } from '../disk.ts'
import { type Act, type Family, type Fault, pause } from '../fault.ts'

function full(diskOf: (world: Act['world']) => Disk): Fault {
  return async ({ world, ms }) => {
    const { server } = world
    await server.inTurn(async () => {
      const disk = diskOf(world)
      await disk.fill()
      // With another segment of WAL to write, the server may end.
      await server.tell((sql) => sql`select pg_switch_wal()`)
      await pause(ms)
      await disk.free()
      await server.up()
    })
  }
}

/** The file system of the data is full, or that of the WAL. */
export const diskFaults: Family = {
  'disk full': full(({ disk }) => disk),
  'WAL full': full(({ walDisk }) => walDisk),
}
