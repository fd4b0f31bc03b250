/** The script from which the extension Vault reads its root key, as the server calls it. */
import { expect } from '@std/expect'
import { clusterPaths, prepareVaultScript } from '../../../supabase/local/postgres/cluster.ts'
import { serverUser } from '../../../supabase/local/postgres/server_user.ts'
import { testFolder } from '../../_support/folder.ts'

Deno.test('the script prints half of the key, also in a folder that the server cannot reach', async () => {
  const folder = testFolder()
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 })
  await Deno.chmod(folder, 0o700)
  try {
    const paths = clusterPaths(folder)
    const user = await serverUser(folder)
    await Deno.mkdir(paths.data, { mode: 0o700 })
    await user.own(paths.data)
    await Deno.writeFile(paths.vaultKey, new Uint8Array(64).fill(0xa5), { mode: 0o600 })
    await user.own(paths.vaultKey)
    await prepareVaultScript(paths, user)
    // Vault asks with access(2), as this test of Perl does: it ignores capabilities.
    const asked = `use filetest 'access'; exit !-x $ARGV[0]`
    const checked = await run(user.prefix, paths.data, ['perl', '-e', asked, paths.vaultScript])
    expect(checked).toEqual({ code: 0, text: '' })
    const printed = await run(user.prefix, paths.data, ['sh', '-c', paths.vaultScript])
    expect(printed).toEqual({ code: 0, text: 'a5'.repeat(32) })
  } finally {
    await Deno.remove(folder, { recursive: true })
  }
})

async function run(
  prefix: string[],
  cwd: string,
  words: string[],
): Promise<{ code: number; text: string }> {
  const [program = '', ...args] = [...prefix, ...words]
  const { code, stdout } = await new Deno.Command(program, { args, cwd, stderr: 'inherit' })
    .output()
  return { code, text: new TextDecoder().decode(stdout) }
}
