/** Explains in one sentence, with the remedy, why packages could not be fetched. */

interface Cause {
  pattern: RegExp
  says: (where: Where) => string
}

export interface Where {
  /** The folder of the packages. */
  cacheDir: string
  /** The variable that sets this folder. */
  cacheVariable: string
}

/** The first pattern that matches gives the cause. */
const CAUSES: readonly Cause[] = [
  {
    pattern: /\b407\b|proxy auth/i,
    says: () =>
      'The proxy requires a user and a password (407): set them in HTTPS_PROXY, as in ' +
      'http://user:password@host:port',
  },
  {
    pattern:
      /UnknownIssuer|invalid peer certificate|SELF_SIGNED_CERT|UNABLE_TO_(GET|VERIFY)|self.signed certificate|unable to get local issuer/i,
    says: () =>
      'The package registry has a certificate of an authority that this machine does not trust: ' +
      'put the certificate of the authority (PEM) into a file and name the file in ' +
      'NODE_EXTRA_CA_CERTS',
  },
  {
    pattern: /no space left|ENOSPC|disk quota/i,
    says: ({ cacheDir, cacheVariable }) =>
      `The disk of ${cacheDir} is full: free some space, or set a folder on another disk in ${cacheVariable}`,
  },
  {
    pattern:
      /permission denied|EACCES|EPERM|read-only file system|EROFS|not a directory|ENOTDIR|failed to create directory/i,
    says: ({ cacheDir, cacheVariable }) =>
      `The cache folder ${cacheDir} is not writable: set another one in ${cacheVariable}`,
  },
  {
    pattern: /\b(401|403)\b|E401|E403/,
    says: () =>
      'The package registry refuses this user: put its token into ~/.npmrc, or configure another ' +
      'registry there',
  },
  {
    pattern:
      /\b404\b|E404|ETARGET|could not find npm package|npm package '[^']+' does not exist|notarget/i,
    says: () =>
      'The package registry does not have a required package: configure a registry that has it in ' +
      '~/.npmrc (registry=https://…)',
  },
  {
    pattern:
      /error sending request|dns error|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|timed? ?out|connection (refused|reset|closed)|unreachable|tunnel/i,
    says: () =>
      'The package registry cannot be reached: connect this machine to the network, or set your ' +
      'proxy in HTTPS_PROXY or your mirror in ~/.npmrc (registry=https://…)',
  },
]

/**
 * The message for the output of a failed Deno or npm, with at most three lines of the output that show the
 * cause; null if the cause is unknown.
 */
export function fetchProblem(text: string, where: Where): string | null {
  const cause = CAUSES.find(({ pattern }) => pattern.test(text))
  if (cause === undefined) return null
  return [cause.says(where), ...tellingLines(text, cause.pattern)].join('\n')
}

/** The first three matching lines of `text`, without credentials. */
function tellingLines(text: string, pattern: RegExp): string[] {
  const lines = text.split('\n').map((line) => line.trim()).filter((line) => line !== '')
  const found = lines.filter((line) => pattern.test(line) && !/^Download /.test(line))
  return [...new Set(found)].slice(0, 3).map((line) =>
    `  ${withoutCredentials(line).slice(0, 300)}`
  )
}

function withoutCredentials(line: string): string {
  return line.replace(/\/\/[^\s/@]+@/g, '//')
}
