/** A folder that the adversary can fill: a file system of its own in memory, which only root can make. */
export interface Disk extends AsyncDisposable {
  readonly path: string
  /** Whether `fill` is possible. */
  readonly isOwn: boolean
  /** Leaves no free space. */
  fill(): Promise<void>
  /** Gives the space back. */
  free(): Promise<void>
}

const WHOLE = '3g'

/** Makes an empty one below the folder for temporary files. */
export async function makeDisk(): Promise<Disk> {
  const path = await Deno.makeTempDir({ prefix: 'outhook-chaos-' })
  const isOwn = Deno.build.os === 'linux' && Deno.uid() === 0 &&
    await succeeds('mount', '-t', 'tmpfs', '-o', `size=${WHOLE},mode=0755`, 'outhook-chaos', path)

  async function fill(): Promise<void> {
    // The bound of a tmpfs may be what it holds now. What grows meanwhile makes the first try fail.
    for (let spare = 0; spare < 64; spare += 4) {
      if (await succeeds('mount', '-o', `remount,size=${await used() + spare}m`, path)) return
    }
  }

  async function used(): Promise<number> {
    const { stdout } = await new Deno.Command('df', { args: ['-m', '--output=used', path] })
      .output()
    return Number(new TextDecoder().decode(stdout).trim().split('\n').at(-1))
  }

  return {
    path,
    isOwn,
    fill,
    free: async () => void await succeeds('mount', '-o', `remount,size=${WHOLE}`, path),
    [Symbol.asyncDispose]: async () => {
      if (isOwn) await succeeds('umount', '--lazy', path)
      await Deno.remove(path, { recursive: true }).catch(() => {})
    },
  }
}

async function succeeds(command: string, ...args: string[]): Promise<boolean> {
  const { success } = await new Deno.Command(command, { args, stderr: 'null' }).output()
    .catch(() => ({ success: false }))
  return success
}
