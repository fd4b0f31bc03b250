import { join } from 'node:path'
import { buildPage, type StaticFile } from './build.ts'

/** What a hosted page needs to know. */
export interface HostedOptions {
  /** The URL of the project. */
  api: string
  functionName: string
  /** The path on the same host that returns the token of whoever is logged in. */
  tokenPath: string
  /** Where one logs in: a path or a URL. `{path}` stands for the page to return to. */
  signIn: string
}

/**
 * The console as static files, for a host behind a login. The document names the API and has the
 * Content-Security-Policy, because a host may not let its users set headers. `_headers` has the part that a
 * document cannot say, for hosts that read this file. Every path of a view gets the document: `404.html` is a
 * copy for hosts that serve this file then.
 */
export async function buildHosted(
  root: string,
  options: HostedOptions,
  log?: (line: string) => void,
): Promise<Map<string, StaticFile>> {
  const files = await buildPage(root, log)
  const page = files.get('/')
  if (page === undefined) throw new Error('The page has no document')
  const { origin, href } = new URL(options.api)
  const policy = "default-src 'none'; script-src 'self'; style-src 'self'; " +
    `connect-src 'self' ${origin}; img-src 'self'; form-action 'none'; base-uri 'none'; ` +
    "require-trusted-types-for 'script'"
  const head = [
    `<meta http-equiv="content-security-policy" content="${escaped(policy)}">`,
    '<meta name="referrer" content="no-referrer">',
    `<meta name="outhook-api" content="${escaped(href.replace(/\/$/, ''))}" ` +
    `data-function="${escaped(options.functionName)}">`,
  ]
  const text = filled(new TextDecoder().decode(page.bytes), {
    '<meta charset="utf-8">': ['<meta charset="utf-8">', ...head].join('\n    '),
  })
  const html: StaticFile = { ...page, bytes: new TextEncoder().encode(text) }
  const token = filled(await Deno.readTextFile(join(root, 'console', 'build', 'token.txt')), {
    '{{tokenPath}}': JSON.stringify(options.tokenPath),
    '{{signIn}}': JSON.stringify(options.signIn),
  })
  files.delete('/')
  files.set('/index.html', html)
  files.set('/404.html', html)
  files.set('/token.js', {
    bytes: new TextEncoder().encode(token),
    type: 'text/javascript; charset=utf-8',
  })
  files.set('/_headers', {
    bytes: new TextEncoder().encode(headers),
    type: 'text/plain; charset=utf-8',
  })
  return files
}

/** No other page may show the console in a frame, where its clicks could be stolen. */
const headers = `/*
  Content-Security-Policy: frame-ancestors 'none'
  X-Frame-Options: DENY
`

/** A text with each of its places filled. A place that is not there is a mistake. */
function filled(text: string, places: Readonly<Record<string, string>>): string {
  let result = text
  for (const [place, value] of Object.entries(places)) {
    if (!result.includes(place)) throw new Error(`There is no ${place} to fill`)
    // A function, because a text may contain $&.
    result = result.replace(place, () => value)
  }
  return result
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
