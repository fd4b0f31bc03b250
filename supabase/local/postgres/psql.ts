import type { PostgresBinaries } from './binaries.ts'

/** The result of a psql run. */
export interface PsqlResult {
  /** psql's exit code: 0, or 3 if a statement failed. */
  code: number
  stdout: string
  stderr: string
}

/** Runs `script` with psql at `url`: unaligned, tuples only, stopping at the first error. */
export async function runPsql(
  binaries: PostgresBinaries,
  url: string,
  script: string,
  args: string[] = [],
): Promise<PsqlResult> {
  const { hostname, port, username, password, pathname } = new URL(url)
  const child = new Deno.Command(`${binaries.bin}/psql`, {
    args: ['--no-psqlrc', '--quiet', '-At', '-v', 'ON_ERROR_STOP=1', ...args],
    // The password is an environment variable, because every user can read command lines.
    env: {
      PGHOST: hostname,
      PGPORT: port,
      PGUSER: username,
      PGPASSWORD: password,
      PGDATABASE: pathname.slice(1),
    },
    stdin: 'piped',
    stdout: 'piped',
    stderr: 'piped',
  }).spawn()
  const writer = child.stdin.getWriter()
  const written = writer.write(new TextEncoder().encode(script)).then(() => writer.close())
  const [{ code, stdout, stderr }] = await Promise.all([child.output(), written.catch(() => {})])
  const decoder = new TextDecoder()
  return {
    code,
    stdout: decoder.decode(stdout).trimEnd(),
    stderr: decoder.decode(stderr).trimEnd(),
  }
}
