/** The module of `<outhook-portal>`. It defines the element once, however often it is loaded. */

import { OuthookPortal } from './element.tsx'

const name = 'outhook-portal'
if (customElements.get(name) === undefined) customElements.define(name, OuthookPortal)

export { OuthookPortal }
