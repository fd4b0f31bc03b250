/**
 * Problems of a server's TLS, by the error codes of node:tls and the texts of rustls below it (Deno
 * 2.1 has only the texts). The first match counts.
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
    'The certificate is self-signed: get one from a public authority',
  ],
  [
    /ServerDoesNotSupportTls12Or13|ProtocolVersion|PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/,
    'The server supports only an old version of TLS: enable 1.2 or newer',
  ],
  [
    /NoCipherSuitesInCommon|NO_SHARED_CIPHER|NO_CIPHERS_AVAILABLE|HandshakeFailure|HANDSHAKE_FAILURE/,
    'The server and the sender have no common cipher: enable those of TLS 1.2 or newer',
  ],
  [
    /UNABLE_TO_|UnknownIssuer|BadSignature|\bcertificate\b/,
    'The certificate is not trusted: it has expired, no public authority signed it, or the intermediate certificates are missing',
  ],
]

/** The message for the endpoint's owner about a TLS error; null if there is no specific one. */
export function tlsProblem(error: Error): string | null {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const text = `${code} ${error.message}`
  return problems.find(([pattern]) => pattern.test(text))?.[1] ?? null
}
