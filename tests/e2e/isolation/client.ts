import type { Shot } from './walk.ts'

/** The base URL of the client; nothing listens there, because the caller gives `fetch`. */
export const clientUrl = 'http://api.test'
/** The types of openapi.json, beside the program. */
const types = './outhook.d.ts'

/**
 * A program that sends each request with openapi-fetch, typed by `./outhook.d.ts`. Its `send()` returns
 * their statuses. `imported` is the specifier of openapi-fetch.
 */
export function clientProgram(shots: readonly Shot[], imported: string, org: string): string {
  return `import createClient from '${imported}'; import type { paths } from '${types}'

export async function send(
  fetch: (request: Request) => Promise<Response>,
  apikey: string,
): Promise<number[]> {
  const client = createClient<paths>({ baseUrl: '${clientUrl}', headers: { apikey }, fetch })
  return [
${shots.map((shot) => `    ${callOf(shot, org)},\n`).join('')}  ]
}
`
}

function callOf({ operation, path, headers, body }: Shot, org: string): string {
  const { pathname, searchParams } = new URL(path, clientUrl)
  const parts = pathname.split('/')
  const inPath = operation.path.split('/').flatMap((part, at) =>
    part.startsWith('{') ? [[part.slice(1, -1), decodeURIComponent(parts[at] ?? '')]] : []
  )
  const query = [...searchParams].map(([name, value]) => {
    const { schema } = operation.parameters.find((one) => one.name === name) ?? {}
    return [name, schema?.type === 'integer' ? Number(value) : value]
  })
  const init = {
    params: {
      header: { ...headers, 'x-org-id': org },
      ...inPath.length === 0 ? {} : { path: Object.fromEntries(inPath) },
      ...query.length === 0 ? {} : { query: Object.fromEntries(query) },
    },
    ...body === undefined ? {} : { body },
  }
  const sent = `${JSON.stringify(operation.path)}, ${JSON.stringify(init)}`
  return `(await client.${operation.method}(${sent})).response.status`
}
