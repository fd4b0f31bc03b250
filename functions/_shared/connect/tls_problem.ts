/**
 * Problems of a server's TLS, by the error codes of Node and the texts of rustls, which differ between Deno 2.1
 * and 2.9. The first match counts.
 */
const problems: [pattern: RegExp, sentence: string][] = [
  [
    /CERT_HAS_EXPIRED|certificate.*\bExpired\b|certificate expired/,
    'The certificate has expired: renew it',
  ],
  [
    /CERT_NOT_YET_VALID|\bNotValidYet\b|certificate not valid yet/,
    'The certificate is not valid yet: check its dates',
  ],
  [
    /ALTNAME_INVALID|HOSTNAME_MISMATCH|\bNotValidForName|certificate not valid for name/,
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
    /InvalidContentType|WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/,
    'The server does not use TLS on this port: use its port for https',
  ],
  [
    /UnknownIssuer|BadSignature/,
    'The certificate is not trusted: no public authority signed it, or the intermediate certificates are missing',
  ],
  // The codes of node:tls, which brokers use. Deno 2.9 has one code for several causes.
  [
    /UNABLE_TO_|\bcertificate\b/,
    'The certificate is not trusted: it has expired, no public authority signed it, or the intermediate certificates are missing',
  ],
]

/** The message for the endpoint's owner about a TLS error; null if there is no specific one. */
export function tlsProblem(error: Error): string | null {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const text = `${code} ${error.message}`
  return problems.find(([pattern]) => pattern.test(text))?.[1] ?? null
}
