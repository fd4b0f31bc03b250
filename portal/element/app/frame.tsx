/** @jsxImportSource preact */

import { QueryClientProvider } from '@tanstack/preact-query'
import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { connect } from './connection.ts'
import { createQueryClient } from './data.ts'
import { History } from './router.ts'
import { Guarded } from '../parts/view_failed.tsx'
import { Shell } from './shell.tsx'
import type { TokenSource } from './token.ts'
import { type Texts, type Words, wordsOf } from './words.ts'

export interface FrameProps {
  api: string
  functionName: string
  lang: string
  start: string
  isHash: boolean
  /** A text is a token that cannot be renewed. */
  token: TokenSource | string | null
  texts: Partial<Texts>
  /** Sends an event to the app around the element. */
  tell(name: 'outhook-navigate' | 'outhook-error', detail: unknown): void
}

/** What lives as long as the element: the connection, the data read, and where it is. */
export function Frame(props: FrameProps): JSX.Element {
  const { api, functionName, lang, texts, token, tell } = props
  const words = useMemo(() => wordsOf(lang, texts), [lang, texts])
  // How often the same function has returned the token of another customer.
  const [customers, setCustomers] = useState(0)
  const problem = api === '' || !URL.canParse(api)
    ? words.t('setupApi')
    : token === null
    ? words.t('setupToken')
    : null
  if (problem !== null || token === null) {
    return <p class='problem' role='alert'>{problem}</p>
  }
  // Another API, token function or customer: nothing of the first one stays.
  return (
    <Connected
      key={`${api} ${functionName} ${customers} ${typeof token === 'string' ? token : idOf(token)}`}
      {...{ ...props, token, words, tell }}
      onOther={() => setCustomers((n) => n + 1)}
    />
  )
}

const ids = new WeakMap<TokenSource, number>()
let lastId = 0

function idOf(token: TokenSource): number {
  const id = ids.get(token) ?? ++lastId
  ids.set(token, id)
  return id
}

interface ConnectedProps extends Omit<FrameProps, 'token'> {
  token: TokenSource | string
  words: Words
  onOther(): void
}

function Connected(props: ConnectedProps): JSX.Element {
  const { api, functionName, start, isHash, token, words, tell, onOther } = props
  // A counter: the keeper has the state.
  const [renewals, setRenewals] = useState(0)
  const [page, setPage] = useState<string | null>(null)
  const made = useMemo(() => ({
    queries: createQueryClient(),
    connection: connect({
      ...{ url: api, functionName, token },
      changed(error): void {
        setRenewals((n) => n + 1)
        if (error !== null) tell('outhook-error', { error, reason: 'token' })
      },
    }),
    history: new History(start, isHash, (next) => {
      setPage(next)
      tell('outhook-navigate', { page: next })
    }),
  }), [])
  const { queries, connection, history } = made
  useEffect(() => () => {
    connection.keeper.stop()
    history.stop()
    queries.clear()
  }, [])
  const tellFailed = (error: unknown): void => tell('outhook-error', { error, reason: 'view' })
  return (
    <QueryClientProvider client={queries}>
      <Guarded at='' words={words} tell={tellFailed}>
        <Shell
          connection={connection}
          renewals={renewals}
          words={words}
          onOther={onOther}
          tell={tellFailed}
          router={{
            page: page ?? history.page,
            go: (next) => history.go(next),
            hrefOf: (one) => history.hrefOf(one),
          }}
        />
      </Guarded>
    </QueryClientProvider>
  )
}
