/**
 * The hosted page, for those who give a customer a link: `<address>#token=<portal token>`. The token
 * leaves the address at once, so that it is in no bookmark and in no history, and is stored nowhere.
 */

import '../element/main.ts'

const token = /^#token=([\w.-]+)$/.exec(location.hash)?.[1] ?? ''
history.replaceState(null, '', location.pathname + location.search)

const element = document.querySelector('outhook-portal')
if (element !== null) {
  Object.assign(element, {
    token({ reason }: { reason: string }): string {
      if (reason === 'first' && token !== '') return token
      // A page without a server of its own cannot renew it.
      throw new Error('Open a new link')
    },
    texts: {
      signedOut: 'This link has expired. Ask for a new one.',
      signInAgain: 'Try again',
    },
  })
}
