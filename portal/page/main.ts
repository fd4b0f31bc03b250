/**
 * The hosted page, for those who give a customer a link: `<address>#token=<portal token>`. The token
 * leaves the address at once, so that no bookmark has it, and is stored nowhere.
 */

import '../element/main.ts'

const element = document.querySelector('outhook-portal')
const expired = { signedOut: 'This link has expired. Ask for a new one.' }

/** Takes the token out of the address; null if there is none. */
function takeToken(): string | null {
  const [, token] = /^#token=([\w.-]+)$/.exec(location.hash) ?? []
  if (token === undefined) return null
  history.replaceState(null, '', location.pathname + location.search)
  return token
}

// A page without a server of its own cannot renew a token.
if (element !== null) Object.assign(element, { token: takeToken() ?? '', texts: expired })

// A new link in the same tab differs by its fragment only, so that the browser does not load the page again.
addEventListener('hashchange', () => {
  const token = takeToken()
  if (token !== null && element !== null) Object.assign(element, { token })
})
