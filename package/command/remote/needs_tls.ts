/** Whether a connection must have TLS: that to another host than this machine, unless the string has sslmode. */
export function needsTls(url: string): boolean {
  const { hostname, searchParams } = new URL(url)
  return !searchParams.has('sslmode') && !searchParams.has('ssl') &&
    !['', 'localhost', '127.0.0.1', '[::1]'].includes(hostname)
}
