import { createElement as h, StrictMode, useCallback, useState } from 'react'
import { createRoot } from 'react-dom/client'
import './outhook-portal.js'
import { OuthookPortal } from './react.js'

function App({ api }) {
  const [lang, setLang] = useState('en')
  const token = useCallback(async ({ reason }) => {
    const response = await fetch('/token', { method: 'POST', body: reason })
    return (await response.json()).token
  }, [])
  return h(
    'div',
    null,
    h('button', { onClick: () => setLang('fr') }, 'Change the language'),
    h(OuthookPortal, { api, token, lang, texts: lang === 'fr' ? french : undefined }),
  )
}

const french = { endpoints: 'Destinations' }
const { api } = await (await fetch('/config')).json()
createRoot(document.getElementById('place')).render(h(StrictMode, null, h(App, { api })))
