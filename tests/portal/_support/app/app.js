const { api } = await (await fetch('/config')).json()
const query = new URLSearchParams(location.search)
const portal = document.createElement('outhook-portal')
portal.setAttribute('api', api)
for (const name of ['lang', 'page', 'routing', 'theme']) {
  const value = query.get(name)
  if (value !== null) portal.setAttribute(name, value)
}
// Set before the element is defined, as an app may do.
portal.token = async ({ reason }) => {
  const response = await fetch('/token', { method: 'POST', body: reason })
  if (!response.ok) throw new Error(`The server of the app responded with ${response.status}`)
  return (await response.json()).token
}
if (query.get('lang') === 'de') portal.texts = { endpoints: 'Endpunkte', addEndpoint: 'Neu' }
globalThis.seen = []
addEventListener('outhook-navigate', ({ detail }) => globalThis.seen.push(detail.page))
addEventListener('outhook-error', () => globalThis.seen.push('error'))
document.getElementById('place').append(portal)
await import('/outhook-portal.js')
