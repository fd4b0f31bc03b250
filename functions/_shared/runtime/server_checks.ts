import { checkServerIdentity, type PeerCertificate } from 'node:tls'

/**
 * How node:tls checks a server. Each is said here, because a variable of the environment
 * (`NODE_TLS_REJECT_UNAUTHORIZED=0`) or an option of Node may turn it off for the whole process.
 */
export const serverChecks = {
  rejectUnauthorized: true,
  minVersion: 'TLSv1.2',
  checkServerIdentity: checkNames,
} as const

/** Node also accepts a name that only the common name has (RFC 9525 section 2 forbids it). */
function checkNames(hostname: string, certificate: PeerCertificate): Error | undefined {
  const subject = { ...certificate.subject, CN: '' }
  return checkServerIdentity(hostname, { ...certificate, subject })
}
