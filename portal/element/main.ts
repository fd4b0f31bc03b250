/** The module of `<outhook-portal>`. It defines the element once, however often it is loaded. */

import { OuthookPortal } from './element.tsx'

const name = 'outhook-portal'
// Undefined on a server that renders the app around the element.
const registry: CustomElementRegistry | undefined = globalThis.customElements
if (registry !== undefined && registry.get(name) === undefined) {
  registry.define(name, OuthookPortal)
}

export { OuthookPortal }
