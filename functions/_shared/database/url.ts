/** Credentials, hosts with ports, and the rest: one `@`, and no `#`, `/`, `?` or space before it. */
const form = /^(postgres(?:ql)?:\/\/(?:[^@/?#\s]*@)?)([^@/?#\s]*)((?:[/?][^@#\s]*)?)$/

/**
 * The problem of a connection string, as a text that follows the variable's name, or null. It is
 * checked here because postgres.js quotes an invalid string, password included, in its error, and
 * takes a part of the password for the host if it contains an unescaped `#` or `/`.
 */
export function connectionUrlProblem(text: string): string | null {
  if (!/^postgres(ql)?:\/\//.test(text)) return 'must start with postgresql://'
  const [, login = '', hosts = '', rest = ''] = form.exec(text) ?? []
  // The driver also accepts several hosts, separated by commas.
  const [host = ''] = hosts.split(',')
  if (login !== '' && URL.canParse(login + host + rest) && isDecodable(text)) return null
  return 'is not a URL: percent-encode the password, where # becomes %23 and / becomes %2F, in ' +
    'postgresql://user:password@host:5432/database'
}

/** Whether each percent sign of a text begins a valid escape. */
export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
