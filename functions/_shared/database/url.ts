/**
 * Login, hosts with their ports, and the rest: one `@`, and no `#`, `/`, `?` or space before it.
 */
const form = /^(postgres(?:ql)?:\/\/(?:[^@/?#\s]*@)?)([^@/?#\s]*)((?:[/?][^@#\s]*)?)$/

/**
 * What is wrong with a connection string, as the end of a sentence that begins with its name, or
 * null. postgres.js puts the whole string into the error it throws over one that is no URL, and
 * takes a part of the password for the host where `#` or `/` stand in it unescaped.
 */
export function connectionUrlProblem(text: string): string | null {
  if (!/^postgres(ql)?:\/\//.test(text)) return 'must begin with postgresql://'
  const [, login = '', hosts = '', rest = ''] = form.exec(text) ?? []
  // Several hosts with commas between them are the driver's own extension of the form.
  const [host = ''] = hosts.split(',')
  if (login !== '' && URL.canParse(login + host + rest) && isDecodable(text)) return null
  return 'is not a URL: percent-encode the password, where # becomes %23 and / becomes %2F, in ' +
    'postgresql://user:password@host:5432/database'
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
