/** @jsxImportSource preact */

import { render } from 'preact'
import { Frame } from './app/frame.tsx'
import type { TokenSource } from './app/token.ts'
import type { Texts } from './app/words.ts'

/** The style sheet, which the build puts here. */
declare const PORTAL_STYLE: string

let sheet: CSSStyleSheet | undefined

/** All elements share one style sheet. It needs no exception in a Content-Security-Policy. */
function sharedSheet(): CSSStyleSheet {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet()
    sheet.replaceSync(PORTAL_STYLE)
  }
  return sheet
}

// A server that renders the app around the element imports this module too, and has no elements.
const Base: typeof HTMLElement = globalThis.HTMLElement ?? Object

/**
 * `<outhook-portal api="https://<project>.supabase.co">`: the webhooks page of a customer. `token` must be
 * set; `texts` may be. It sends the events `outhook-navigate` and `outhook-error`.
 */
export class OuthookPortal extends Base {
  static readonly observedAttributes = ['api', 'function', 'lang', 'page', 'routing', 'theme']

  #token: TokenSource | string | null = null
  #texts: Partial<Texts> = {}
  #root: ShadowRoot | null = null
  #isWaiting = false

  /** Returns a portal token; called again before the token expires. A text is a token without renewal. */
  get token(): TokenSource | string | null {
    return this.#token
  }
  set token(token: TokenSource | string | null) {
    if (token === this.#token) return
    this.#token = token
    this.#draw()
  }

  /** Texts in place of the English ones, by key. */
  get texts(): Partial<Texts> {
    return this.#texts
  }
  set texts(texts: Partial<Texts> | null | undefined) {
    this.#texts = texts ?? {}
    this.#draw()
  }

  connectedCallback(): void {
    this.#takeEarly('token')
    this.#takeEarly('texts')
    if (this.#root === null) {
      this.#root = this.attachShadow({ mode: 'open' })
      this.#root.adoptedStyleSheets = [sharedSheet()]
    }
    this.#draw()
  }

  disconnectedCallback(): void {
    // An element that is only moved keeps its state.
    queueMicrotask(() => {
      if (!this.isConnected && this.#root !== null) render(null, this.#root)
    })
  }

  attributeChangedCallback(): void {
    this.#draw()
  }

  /** A property that was set before the element was defined hides the accessor of the class. */
  #takeEarly(name: 'token' | 'texts'): void {
    if (!Object.hasOwn(this, name)) return
    const value: unknown = Reflect.get(this, name)
    Reflect.deleteProperty(this, name)
    Reflect.set(this, name, value)
  }

  /** Draws once for all attributes and properties that are set together. */
  #draw(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    queueMicrotask(() => {
      this.#isWaiting = false
      if (this.#root === null || !this.isConnected) return
      render(
        <Frame
          api={this.getAttribute('api') ?? ''}
          functionName={this.getAttribute('function') ?? 'api'}
          lang={this.getAttribute('lang') ?? 'en'}
          start={this.getAttribute('page') ?? 'endpoints'}
          isHash={this.getAttribute('routing') === 'hash'}
          token={this.#token}
          texts={this.#texts}
          tell={(name, detail) => {
            this.dispatchEvent(
              new CustomEvent(name, { detail, bubbles: true, composed: true }),
            )
          }}
        />,
        this.#root,
      )
    })
  }
}
