/**
 * What is wrong with a server's TLS, by the codes of node:tls and the words of rustls beneath it:
 * Deno 2.1 has the words alone. The first that fits counts.
 */
const problems: [pattern: RegExp, sentence: string][] = [
  [/CERT_HAS_EXPIRED|certificate.*\bExpired\b/, 'The certificate has expired: renew it'],
  [/CERT_NOT_YET_VALID|\bNotValidYet\b/, 'The certificate is not valid yet: check its dates'],
  [
    /ALTNAME_INVALID|HOSTNAME_MISMATCH|\bNotValidForName/,
    'The certificate is for another host name: get one for the name in the URL',
  ],
  [/CERT_REVOKED|\bRevoked\b/, 'The certificate is revoked: get a new one'],
  [
    /SELF_SIGNED/,
    'The certificate signs itself, so nobody vouches for it: get one from a public authority',
  ],
  [
    /ServerDoesNotSupportTls12Or13|ProtocolVersion|PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/,
    'The server speaks only an old version of TLS: switch on 1.2 or newer',
  ],
  [
    /NoCipherSuitesInCommon|NO_SHARED_CIPHER|NO_CIPHERS_AVAILABLE|HandshakeFailure|HANDSHAKE_FAILURE/,
    'The server and the sender have no cipher in common: switch on those of TLS 1.2 or newer',
  ],
  [
    /UNABLE_TO_|UnknownIssuer|BadSignature|\bcertificate\b/,
    'The certificate is not trusted: it has expired, no public authority signed it, or the intermediate certificates are missing',
  ],
]

/**
 * A sentence for the endpoint's owner about an error of TLS, or null when nothing closer is known.
 */
export function tlsProblem(error: Error): string | null {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const text = `${code} ${error.message}`
  return problems.find(([pattern]) => pattern.test(text))?.[1] ?? null
}
