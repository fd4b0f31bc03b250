/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { useState } from 'preact/hooks'
import { api, asFailure, readText } from '../app/api.ts'
import { everyMs, useLive } from '../app/data.ts'
import { visible } from '../app/format.ts'
import { may } from '../app/session.ts'
import { Confirm } from '../parts/action.tsx'
import { CopyCommands } from '../parts/copy_commands.tsx'
import { memberText } from '../parts/json_text.ts'
import { JsonView } from '../parts/json_view.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Read } from '../parts/state.tsx'
import { Ago, Badge, EndpointName, Fact, Foreign } from '../parts/value.tsx'
import { ChangeItem, ChangeList } from './change_list.tsx'
import { contentOf, MessageBadge } from './message_badge.tsx'
import { DossierLink, PersonLink } from './messages.tsx'

type Message = Output<'getMessage'>

/** One message: where it is, each attempt, and what it says. */
export function MessagePage({ id }: { id: string }): JSX.Element {
  const message = useLive(
    ['message', id],
    async (signal) => {
      const text = await readText(`/api/v1/outbound/messages/${encodeURIComponent(id)}`, signal)
      // SAFETY: the API sends a message, and errors are no text.
      return { one: JSON.parse(text) as Message, payload: memberText(text, 'payloadJson') }
    },
    { everyOf: (value) => value !== undefined && isOpen(value.one) ? everyMs.live : everyMs.list },
  )
  const isMissing = message.isError && [400, 404].includes(asFailure(message.error).status)
  if (isMissing && message.data === undefined) {
    return (
      <Empty isPage title='There is no such message'>
        <p>
          <Link to='/messages'>All messages</Link>
        </p>
      </Empty>
    )
  }
  return (
    <Read of={message}>
      {({ one, payload }) => (
        <>
          <nav class='trail' aria-label='Trail'>
            <Link to='/messages'>Messages</Link>
          </nav>
          <div class='page-head'>
            <h1>
              <Foreign text={contentOf(one)} />
            </h1>
            <MessageBadge message={one} />
            <CopyCommands
              path={`/outbound/messages/${one.id}`}
              sql={`select * from outbox.message_attempt where message_id = ${one.id};`}
            />
          </div>
          <Actions message={one} />
          <Facts message={one} />
          <section class='card' aria-label='Attempts'>
            <h2>What happened</h2>
            <Attempts message={one} />
          </section>
          <section class='card' aria-label='Content'>
            <h2>Content</h2>
            {one.erasedAt === null && payload !== null
              ? <JsonView text={payload} name='As it was created' />
              : <p class='quiet'>It was erased after the retention time of messages.</p>}
          </section>
        </>
      )}
    </Read>
  )
}

function isOpen({ status }: Message): boolean {
  return status === 'QUEUED' || status === 'SENDING'
}

function Actions({ message }: { message: Message }): JSX.Element {
  const [isResending, setResending] = useState(false)
  const [isCancelling, setCancelling] = useState(false)
  const path = { messageId: message.id }
  return (
    <div class='row'>
      {message.status === 'QUEUED' && may('messages:send') && (
        <button
          type='button'
          onClick={() => setCancelling(true)}
        >
          Cancel message
        </button>
      )}
      {message.status === 'FAILED' && message.erasedAt === null && may('messages:send') && (
        <button
          type='button'
          class='primary'
          data-main-action=''
          onClick={() => setResending(true)}
        >
          Send again
        </button>
      )}
      {may('audit:read') && (
        <Link to={`/audit?type=OUTBOUND_MESSAGE&entity=${message.id}`} class='button'>
          Audit trail
        </Link>
      )}
      {isCancelling && (
        <Confirm
          title='Cancel this message?'
          label='Cancel message'
          danger
          typed={message.id}
          act={() => api.cancelMessage({ path })}
          onClose={() => setCancelling(false)}
        >
          <p>
            This one message, to{' '}
            <Foreign text={message.to} mono />, is not sent, and it cannot be queued again. To send
            it later, create it anew.
          </p>
        </Confirm>
      )}
      {isResending && <Resend message={message} onClose={() => setResending(false)} />}
    </div>
  )
}

function Resend({ message, onClose }: { message: Message; onClose(): void }): JSX.Element {
  const isCopy = message.copies > 0
  return (
    <Confirm
      title='Send this message again?'
      label='Send again'
      danger={isCopy}
      act={() =>
        api.resendMessage({
          path: { messageId: message.id },
          ...isCopy ? { query: { force: 'true' } } : {},
        })}
      onClose={onClose}
    >
      <p>It is queued with all its retries. Consent and opt-outs are checked before it is sent.</p>
      {isCopy && (
        <p>
          <strong>WhatsApp reports that this message has arrived.</strong>{' '}
          The person would get it a second time.
        </p>
      )}
    </Confirm>
  )
}

function Facts({ message }: { message: Message }): JSX.Element {
  return (
    <dl class='facts'>
      <Fact name='To'>
        <PersonLink recipient={message.to} />
      </Fact>
      {message.dossierId !== null && (
        <Fact name='Dossier'>
          <DossierLink id={message.dossierId} />
        </Fact>
      )}
      <Fact name='Channel'>
        <EndpointName id={message.channelId} />
      </Fact>
      <Fact name='Category'>{message.category.toLowerCase()}</Fact>
      <Fact name='Attempts'>{message.attemptCount} of {message.maxAttempts}</Fact>
      {message.correlationId !== null && (
        <Fact name='Correlation id'>
          <Link to={`/messages?by=correlation&q=${encodeURIComponent(message.correlationId)}`}>
            <Foreign text={message.correlationId} mono />
          </Link>
        </Fact>
      )}
      <Fact name='Idempotency key'>
        <Foreign text={message.idempotencyKey} mono />
      </Fact>
      {message.createdBy !== null && (
        <Fact name='Created by'>
          <Foreign text={message.createdBy} />
        </Fact>
      )}
    </dl>
  )
}

function Attempts({ message }: { message: Message }): JSX.Element {
  const { attempts, status } = message
  return (
    <ChangeList label='Timeline'>
      <ChangeItem tone='quiet' at={message.createdAt} title='Queued' />
      {attempts.map((one) => (
        <ChangeItem
          key={one.attemptNo}
          tone={one.status === 'SUCCESS' ? 'good' : one.status === 'FAILED' ? 'bad' : 'info'}
          at={one.createdAt}
          title={`Attempt ${one.attemptNo} ${attemptWords[one.status]}`}
        >
          {one.errorMessage !== null && (
            <p>
              {one.errorCode !== null && <Badge tone='bad'>{visible(one.errorCode)}</Badge>}{' '}
              <Foreign text={one.errorMessage} />
            </p>
          )}
          {one.nextRetryAt !== null && isOpen(message) && (
            <p class='quiet'>
              Next attempt <Ago at={one.nextRetryAt} />
            </p>
          )}
          {one.providerResponse !== null && (
            <details>
              <summary>Response</summary>
              <JsonView text={JSON.stringify(one.providerResponse)} name='Response' />
            </details>
          )}
        </ChangeItem>
      ))}
      {message.deliveredAt !== null && (
        <ChangeItem tone='good' at={message.deliveredAt} title='Delivered to the phone' />
      )}
      {message.readAt !== null && <ChangeItem tone='good' at={message.readAt} title='Read' />}
      {status === 'FAILED' && (
        <ChangeItem tone='bad' at={message.updatedAt} title='Failed for good'>
          {message.errorMessage !== null && (
            <p>
              <Foreign text={message.errorMessage} />
            </p>
          )}
        </ChangeItem>
      )}
      {status === 'CANCELLED' && (
        <ChangeItem tone='quiet' at={message.updatedAt} title='Cancelled' />
      )}
      {status === 'QUEUED' && attempts.length === 0 && (
        <li class='step info'>
          <div class='step-head'>
            <strong>It waits to be sent</strong>
          </div>
          <p class='quiet'>
            A held channel or template, or the pace of the recipient, can delay it:{' '}
            <Link to='/channels'>channels</Link>.
          </p>
        </li>
      )}
    </ChangeList>
  )
}

const attemptWords: Record<Message['attempts'][number]['status'], string> = {
  TRYING: 'is being made',
  SUCCESS: 'was accepted',
  FAILED: 'failed',
}
