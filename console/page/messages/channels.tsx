/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { useLive } from '../app/data.ts'
import { number, visible } from '../app/format.ts'
import { may } from '../app/session.ts'
import { ActionButton, useAction } from '../parts/action.tsx'
import { CopyCommands } from '../parts/copy_commands.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Problem, Read } from '../parts/state.tsx'
import { Badge, Fact, Foreign, Time } from '../parts/value.tsx'
import { MessageTabs } from './tabs.tsx'

type Channel = Output<'listChannels'>['data'][number]
type Check = Output<'checkChannel'>

/** The channels, what holds one, and what helps. */
export function ChannelsPage(): JSX.Element {
  const channels = useLive(['channels'], (signal) => api.listChannels({ signal }))
  return (
    <>
      <MessageTabs at='/channels' />
      <Read of={channels}>
        {({ data }) =>
          data.length === 0
            ? (
              <Empty title='There is no channel in this organisation'>
                <p>
                  A channel is a business number of WhatsApp with its credentials. The page
                  docs/messages.md says how to create one by <code>POST /channels</code>.
                </p>
              </Empty>
            )
            : data.map((one) => <ChannelCard key={one.id} channel={one} />)}
      </Read>
      <CopyCommands path='/channels' />
    </>
  )
}

/** Why a channel sends nothing, and what helps; null if it sends. */
export function holdOf(
  { status, statusReason }: Pick<Channel, 'status' | 'statusReason'>,
): { what: string; todo: string } | null {
  if (status === 'enabled') return null
  const why = statusReason ?? ''
  if (why.startsWith('held:')) {
    return {
      what: `WhatsApp refuses to send: ${why.slice('held:'.length).trim()}`,
      todo: 'Check the channel below: the result says what to repair at Meta. After the repair, ' +
        'resume it. Its messages wait until then.',
    }
  }
  return {
    what: `Somebody has ${status} it${why === '' ? '' : `: ${why}`}`,
    todo: 'Its messages wait until somebody resumes it.',
  }
}

function ChannelCard({ channel }: { channel: Channel }): JSX.Element {
  const hold = holdOf(channel)
  const path = { channelId: channel.id }
  return (
    <section class='card' aria-label={`Channel ${channel.phoneNumberId}`}>
      <div class='card-head'>
        <h2>
          <Foreign text={channel.description === '' ? channel.channel : channel.description} />
        </h2>
        {channel.isDefault && <Badge tone='info'>default</Badge>}
        <Badge tone={hold === null ? 'good' : 'bad'}>
          {hold === null
            ? 'enabled'
            : channel.statusReason?.startsWith('held:') === true
            ? 'held'
            : channel.status}
        </Badge>
      </div>
      {hold !== null && (
        <p class='finding bad'>
          <span>
            <strong>
              <Foreign text={hold.what} />.
            </strong>{' '}
            {hold.todo}
          </span>
        </p>
      )}
      <dl class='facts'>
        <Fact name='Phone number id'>
          <Foreign text={channel.phoneNumberId} mono />
        </Fact>
        <Fact name='Business account'>
          <Foreign text={channel.wabaId} mono />
        </Fact>
        <Fact name='Quality'>
          {channel.quality === null ? 'not told yet' : <Foreign text={channel.quality} />}
        </Fact>
        <Fact name='Messages a second'>{number(channel.messagesPerSecond)}</Fact>
        <Fact name='Seconds between two messages to one person'>{number(channel.pairSeconds)}</Fact>
        <Fact name='Changed'>
          <Time at={channel.updatedAt} />
        </Fact>
      </dl>
      <div class='row'>
        {hold !== null && may('channels:write') && (
          <ActionButton
            label='Resume'
            main
            act={() => api.resumeChannel({ path })}
          />
        )}
        {may('endpoints:read') && (
          <Link to={`/endpoints/${channel.id}`} class='button'>Deliveries and health</Link>
        )}
        {may('channels:write') && <CheckChannel channelId={channel.id} />}
      </div>
    </section>
  )
}

const tones = { ok: 'good', warning: 'warn', failed: 'bad', unknown: 'quiet' } as const

/** Asks Meta about the token, the number, the subscription and the templates. */
function CheckChannel({ channelId }: { channelId: string }): JSX.Element {
  const [result, setResult] = useState<Check | null>(null)
  const action = useAction(async () => {
    setResult(await api.checkChannel({ path: { channelId }, timeoutMs: 30_000 }))
  })
  return (
    <>
      <button type='button' disabled={action.isRunning} onClick={() => void action.run()}>
        {action.isRunning ? 'Asking Meta …' : 'Check at Meta'}
      </button>
      {action.error !== null && <Problem error={action.error} />}
      {result !== null && (
        <div class='check' role='status' aria-label='Result of the check'>
          <ul class='plain-list'>
            {result.checks.map((one) => (
              <li key={one.name} class='stack'>
                <span class='row tight'>
                  <Badge tone={tones[one.result]}>{one.result}</Badge>
                  <strong>{one.name.replaceAll('_', ' ')}</strong>
                  <Foreign text={one.detail} />
                </span>
                {one.remedy !== null && <p class='quiet'>{visible(one.remedy)}</p>}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  )
}
