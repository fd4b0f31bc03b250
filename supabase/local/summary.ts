import type { Stack } from './stack.ts'

/**
 * The text that a user needs for a running stack: URLs, keys and a psql command. Without a pager psql
 * accepts several pasted queries; a pager would read the second one as its commands. Without the context,
 * an error is its message and its hint, not the functions that were being executed.
 */
export async function summary(
  { apiUrl, dbUrl, keys, postgresBin, server, whatsappUrl }: Stack,
): Promise<string> {
  return `
The stack is up, on ${server}. Ctrl-C stops it.

  API URL          ${apiUrl}
  RPC              ${apiUrl}/rest/v1/rpc/<function>
  Functions        ${apiUrl}/functions/v1/<name>
  Database         ${dbUrl}${
    whatsappUrl === null ? '' : `
  WhatsApp         ${whatsappUrl}/people`
  }
  Publishable key  ${keys.publishableKey}
  Secret key       ${keys.secretKey}
  anon JWT         ${keys.anonKey}
  service_role JWT ${keys.serviceRoleKey}
  Metrics token    ${keys.metricsToken}
  example-consumer ${keys.exampleSecret}

  ${await psqlCommand(postgresBin)} -P pager=off -v SHOW_CONTEXT=never ${dbUrl}
`
}

/** `psql` if the shell finds it, otherwise its full path. */
async function psqlCommand(bin: string): Promise<string> {
  try {
    await new Deno.Command('psql', { args: ['--version'] }).output()
    return 'psql'
  } catch {
    return `${bin}/psql`
  }
}
