import { createElement, useEffect, useRef } from 'react'

/** `<OuthookPortal api token texts …>`: keep `token` the same function, for example by useCallback. */
export function OuthookPortal({ token, texts, onError, ...attributes }) {
  const ref = useRef(null)
  useEffect(() => void Object.assign(ref.current, { token, texts }), [token, texts])
  useEffect(() => {
    const element = ref.current
    if (onError) element.addEventListener('outhook-error', onError)
    return () => element.removeEventListener('outhook-error', onError)
  }, [onError])
  return createElement('outhook-portal', { ...attributes, ref })
}
