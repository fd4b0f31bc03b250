import type { PayloadSchema } from './json_schema.ts'

/** The event types of an organisation with their schemas; null: none. Equal versions are equal. */
export type Catalogue = {
  strict: boolean
  version: string
  types: Record<string, PayloadSchema | null>
}

/** Catalogues of strict organisations. The one that was kept first is dropped first. */
export class CatalogueCache {
  readonly #entries = new Map<string, { catalogue: Catalogue; characters: number }>()
  readonly #mostCatalogues: number
  readonly #mostCharacters: number
  #characters = 0

  /** @param mostCharacters of the JSON texts of all catalogues, to which their memory is proportional */
  constructor(mostCatalogues: number, mostCharacters: number) {
    this.#mostCatalogues = mostCatalogues
    this.#mostCharacters = mostCharacters
  }

  get(orgId: string): Catalogue | undefined {
    return this.#entries.get(orgId)?.catalogue
  }

  /**
   * Keeps the catalogue of an organisation instead of an older one, if it is strict. A catalogue that has more
   * characters than all may have is kept alone. Returns how many characters it has.
   */
  keep(orgId: string, catalogue: Catalogue): number {
    this.#drop(orgId)
    const { length: characters } = JSON.stringify(catalogue.types)
    if (!catalogue.strict) return characters
    this.#entries.set(orgId, { catalogue, characters })
    this.#characters += characters
    for (const oldest of this.#entries.keys()) {
      if (oldest === orgId || this.#isWithin()) break
      this.#drop(oldest)
    }
    return characters
  }

  #isWithin(): boolean {
    return this.#entries.size <= this.#mostCatalogues && this.#characters <= this.#mostCharacters
  }

  #drop(orgId: string): void {
    this.#characters -= this.#entries.get(orgId)?.characters ?? 0
    this.#entries.delete(orgId)
  }
}
