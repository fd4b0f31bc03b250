/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { functionName } from '../app/hosting.ts'
import { orgOf, usePlace } from '../app/location.ts'
import { hasKey } from '../app/session.ts'
import { Copy } from './copy.tsx'

/** The commands that give what the page shows: over the API, and in SQL. */
export function CopyCommands({ path, sql, id }: {
  /** The path of the API, with its query. */
  path: string
  sql?: string
  id?: string
}): JSX.Element {
  return (
    <div class='row'>
      {id !== undefined && <Copy text={id} label='Copy id' />}
      <Copy text={curlOf(path, orgOf(usePlace()))} label='Copy as curl' />
      {sql !== undefined && <Copy text={sql} label='Copy as SQL' />}
    </div>
  )
}

/** A `curl` command for a path of the API. The key or token is a variable, so that no copy contains it. */
export function curlOf(path: string, org: string): string {
  // The path may hold text of others, and the shell would expand it in double quotes.
  const header = hasKey() ? 'apikey: $SECRET_KEY' : 'Authorization: Bearer $TOKEN'
  return `curl "$API_URL"${quoted(`/functions/v1/${functionName}/v1${path}`)} -H "${header}" ` +
    `-H ${quoted(`X-Org-Id: ${org}`)}`
}

/** A text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
