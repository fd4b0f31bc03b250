import { SetupError } from '../../supabase/local/errors.ts'

/** Runs a program of the build; throws a SetupError with its output if it fails. */
export async function runTool(
  path: string,
  args: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(path, {
    args: [...args],
    cwd,
    env: { NO_COLOR: '1', ...env },
    stdin: 'null',
  }).output()
  const decoder = new TextDecoder()
  const said = decoder.decode(stdout)
  if (!success) throw new SetupError(`${path} failed:\n${said}${decoder.decode(stderr)}`)
  return said
}
