import { isObject } from './source.ts'

/** Members with data, in which nothing is a schema. */
const data = ['const', 'enum', 'default', 'examples']

type Base = { root: unknown; anchors: Map<string, unknown> }

/** Finds what references within a schema name, relative to the closest `$id` around them. */
export class References {
  readonly #bases = new Map<unknown, Base>()
  readonly #root: Base

  constructor(schema: unknown) {
    this.#root = { root: schema, anchors: new Map() }
    this.#collect(schema, this.#root)
  }

  /** What `text`, such as `#/$defs/item` or `#item`, names from the schema `from`; undefined if nothing. */
  find(text: string, from: unknown): unknown {
    const { root, anchors } = this.#bases.get(from) ?? this.#root
    const fragment = decode(text.slice(1))
    if (fragment === undefined) return undefined
    if (fragment === '') return root
    if (!fragment.startsWith('/')) return anchors.get(fragment)
    let found = root
    for (const token of fragment.slice(1).split('/')) {
      const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
      // SAFETY: an object or an array; an index of an array is a name too.
      const members = found as Record<string, unknown>
      if (typeof found !== 'object' || found === null || !Object.hasOwn(members, name)) {
        return undefined
      }
      found = members[name]
    }
    return found
  }

  #collect(value: unknown, around: Base): void {
    if (Array.isArray(value)) return value.forEach((item) => this.#collect(item, around))
    if (!isObject(value)) return
    const { $id: id, $anchor, $dynamicAnchor } = value
    const isBase = typeof id === 'string' && !id.startsWith('#') && value !== this.#root.root
    const base = isBase ? { root: value, anchors: new Map() } : around
    this.#bases.set(value, base)
    for (const name of [$anchor, $dynamicAnchor]) {
      if (typeof name === 'string') base.anchors.set(name, value)
    }
    if (typeof id === 'string' && id.startsWith('#')) base.anchors.set(id.slice(1), value)
    for (const [name, item] of Object.entries(value)) {
      if (!data.includes(name)) this.#collect(item, base)
    }
  }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
