/** The catalogue of event types as one HTML document without a script. */

import { visible } from '../../console/page/app/format.ts'
import { changeWords, type TypeChange } from '../../console/page/catalogue/change_words.ts'
import { indent, tokenize } from '../../console/page/parts/json_text.ts'
import type { Output } from '../../package/client/operation_types.ts'
import { exampleOf } from '../element/types/example.ts'

export type EventType = Pick<
  Output<'getEventType'>,
  'type' | 'description' | 'schema' | 'createdAt' | 'updatedAt'
>

/** A change of an event type. The page does not say who made it: readers are customers. */
export type CatalogueChange = Omit<TypeChange, 'id' | 'actor'>

/** HTML that is made of escaped texts. */
class Html {
  constructor(readonly text: string) {}
}

type Part = string | Html | readonly Html[]

/** A template whose texts are escaped: only what another template made stays HTML. */
function markup(words: TemplateStringsArray, ...parts: Part[]): Html {
  const texts = parts.map((part) =>
    typeof part === 'string'
      ? escaped(visible(part))
      : part instanceof Html
      ? part.text
      : part.map(({ text }) => text).join('\n')
  )
  return new Html(words.map((word, i) => word + (texts[i] ?? '')).join(''))
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;').replaceAll("'", '&#39;')
}

const nothing = markup``

/**
 * The document. The types are shown by name, and the changes as they are given, which is the newest
 * first. The same catalogue gives the same text.
 */
export function cataloguePage(
  types: readonly EventType[],
  title: string,
  changes: readonly CatalogueChange[] = [],
): string {
  const all = [...types].sort((a, b) => a.type < b.type ? -1 : 1)
  const contents = markup`
    <nav aria-label="Event types">
      <ul>
    ${all.map(({ type }) => markup`<li><a href="#${type}"><code>${type}</code></a></li>`)}
      </ul>
    </nav>
  `
  return `${
    markup`
      <!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8">
          <meta http-equiv="content-security-policy"
            content="default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'">
          <meta name="viewport" content="width=device-width, initial-scale=1">
          <meta name="color-scheme" content="light dark">
          <title>${title}</title>
          <link rel="icon" href="data:,">
          <link rel="stylesheet" href="./catalogue.css">
        </head>
        <body>
          <main>
      <h1>${title}</h1>
      ${all.length === 0 ? markup`<p>No event types are described yet.</p>` : contents}
      ${all.map(section)}
      ${changes.length === 0 ? nothing : changelog(changes, new Set(all.map(({ type }) => type)))}
          </main>
        </body>
      </html>
    `.text.trim()
  }\n`
}

function section({ type, description, schema, createdAt, updatedAt }: EventType): Html {
  const isChanged = updatedAt !== createdAt
  return markup`<section id="${type}" aria-labelledby="title-${type}">
<h2 id="title-${type}"><code>${type}</code></h2>
${description === '' ? nothing : markup`<p>${description}</p>`}
<p class="quiet">Since ${day(createdAt)}${
    isChanged ? markup`, changed on ${day(updatedAt)}` : nothing
  }.</p>
${
    schema === null
      ? markup`<p class="quiet">The payload is not described.</p>`
      : markup`${members(schema)}
${code('Example', type, exampleOf(schema))}
${code('Schema', type, schema)}`
  }
</section>`
}

/** The changes by day, newest first. A type that is still there is a link. */
function changelog(changes: readonly CatalogueChange[], known: ReadonlySet<string>): Html {
  const days = new Map<string, CatalogueChange[]>()
  for (const change of changes) {
    days.set(day(change.at), [...days.get(day(change.at)) ?? [], change])
  }
  const item = (change: CatalogueChange): Html => {
    const name = markup`<code>${change.type}</code>`
    const shown = known.has(change.type) ? markup`<a href="#${change.type}">${name}</a>` : name
    return markup`<li>${shown}: ${changeWords(change)}.</li>`
  }
  return markup`<section aria-labelledby="changes:">
<h2 id="changes:">Changes</h2>
${
    [...days].map(([at, list]) =>
      markup`<h3>${at}</h3>
<ul>
${list.map(item)}
</ul>`
    )
  }
</section>`
}

function day(iso: string): string {
  return iso.slice(0, 10)
}

function code(name: string, type: string, value: unknown): Html {
  const text = JSON.stringify(value)
  const shown = indent(tokenize(text) ?? []).map((token) => token.text).join('')
  return markup`
    <figure>
      <figcaption>${name}</figcaption>
      <pre tabindex="0" role="region" aria-label="${name} of ${type}"><code>${shown}</code></pre>
    </figure>
  `
}

/** The members of the payload as a table, as far as the schema lists them. */
function members(schema: EventType['schema']): Html {
  const { properties, required } = asRecord(schema)
  const rows = Object.entries(asRecord(properties))
  if (rows.length === 0) return nothing
  const needed = new Set(Array.isArray(required) ? required.map(String) : [])
  return markup`
    <div class="table-box">
      <table>
        <thead>
          <tr>
            <th scope="col">Member</th>
            <th scope="col">Type</th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>
    ${
    rows.map(([name, one]) => {
      const { type, format, description } = asRecord(one)
      const types = Array.isArray(type) ? type.map(String).join(' or ') : String(type ?? '')
      const form = typeof format === 'string' ? ` (${format})` : ''
      const meaning = typeof description === 'string' ? description : ''
      const must = needed.has(name) ? '' : ', optional'
      return markup`
        <tr>
          <td><code>${name}</code></td>
          <td>${types + form + must}</td>
          <td>${meaning}</td>
        </tr>
      `
    })
  }
        </tbody>
      </table>
    </div>
  `
}

function asRecord(value: unknown): Record<string, unknown> {
  // SAFETY: an object that is not an array has string keys and values of any type.
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? value as Record<string, unknown>
    : {}
}
