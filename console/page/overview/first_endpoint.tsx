/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { orgOf, usePlace } from '../app/location.ts'
import { sqlLiteral } from '../app/sql_literal.ts'
import { Copy } from '../parts/copy.tsx'
import { Link } from '../parts/link.tsx'
import { Empty } from '../parts/state.tsx'

/** What to do in an organisation without endpoints. */
export function FirstEndpoint(): JSX.Element {
  const org = orgOf(usePlace())
  const create = `select outbox.create_endpoint('https://example.com/webhooks', '{order.*}', ` +
    `p_org_id => ${sqlLiteral(org)});`
  const publish = `select outbox.publish('order.paid', '{"id": 1}', p_org_id => ${
    sqlLiteral(org)
  });`
  return (
    <Empty title={`There is no endpoint in the organisation ${org}`}>
      <p>
        An endpoint is an address that is subscribed to event types. Create one with “New endpoint”
        on the page <Link to='/endpoints'>Endpoints</Link>, or in SQL:
      </p>
      <Snippet text={create} />
      <p>Then publish an event. It is delivered after the commit, and shows on this page:</p>
      <Snippet text={publish} />
      <p class='quiet'>Another organisation? Name it in the field at the side.</p>
    </Empty>
  )
}

/** A command to copy. */
export function Snippet({ text }: { text: string }): JSX.Element {
  return (
    <div class='snippet'>
      <code>{text}</code>
      <Copy text={text} label='Copy' />
    </div>
  )
}
