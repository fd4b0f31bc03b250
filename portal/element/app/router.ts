/** Where the element is: `endpoints`, `endpoints/<id>/secret`, `deliveries/<id>`, … */
export interface Router {
  page: string
  go(page: string): void
  /** The address of a page, if pages have addresses. */
  hrefOf(page: string): string | undefined
}

/** The pages that have been opened; the last one is shown. */
export class History {
  #page: string
  constructor(
    start: string,
    readonly isHash: boolean,
    readonly changed: (page: string) => void,
  ) {
    this.#page = isHash ? pageOfHash() ?? start : start
    if (isHash) addEventListener('hashchange', this.#follow)
  }

  get page(): string {
    return this.#page
  }

  go(page: string): void {
    if (this.isHash) location.hash = this.hrefOf(page) ?? ''
    else this.#show(page)
  }

  hrefOf(page: string): string | undefined {
    return this.isHash ? `#/${page}` : undefined
  }

  stop(): void {
    removeEventListener('hashchange', this.#follow)
  }

  #follow = (): void => {
    // A fragment that is none of ours is a place in the app around the element.
    const isOurs = location.hash === '' || location.hash.startsWith('#/')
    if (isOurs) this.#show(pageOfHash() ?? 'endpoints')
  }

  #show(page: string): void {
    if (page === this.#page) return
    this.#page = page
    this.changed(page)
  }
}

function pageOfHash(): string | null {
  const [, page] = /^#\/([\w./-]*)$/.exec(location.hash) ?? []
  return page === undefined || page === '' ? null : page
}
