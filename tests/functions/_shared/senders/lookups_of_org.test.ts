/** Each sender of a URL that an organisation has chosen says whose it is when the name is looked up. */

import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import type { Asker } from '../../../../functions/_shared/connect/share_lookups.ts'
import type { Sender } from '../../../../functions/_shared/senders/sender.ts'
import { slackSender } from '../../../../functions/_shared/senders/slack/sender.ts'
import { webhookSender } from '../../../../functions/_shared/senders/webhook.ts'
import { createKeyCache } from '../../../../functions/_shared/signing/sign.ts'
import { createFetchTransport } from '../../../../functions/_shared/transport/fetch.ts'
import { createHttp1Transport } from '../../../../functions/_shared/transport/http1.ts'
import type { Transport } from '../../../../functions/_shared/transport/transport.ts'
import { sampleDelivery, sampleEndpoint, sampleEvent, sampleSettings } from '../../samples.ts'

const policy = createAddressPolicy({ allowHttp: true, allowCidrs: [] })
const senders: Record<string, Sender> = { webhook: webhookSender, slack: slackSender }

type Asked = [hostname: string, asker: Asker | undefined]

function transportsTo(asked: Asked[]): Record<string, Transport> {
  const resolve = (hostname: string, asker?: Asker): Promise<never> => {
    asked.push([hostname, asker])
    return Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
  }
  return { http1: createHttp1Transport({ resolve }), fetch: createFetchTransport(resolve) }
}

for (const scheme of ['http', 'https']) {
  for (const [name, sender] of Object.entries(senders)) {
    Deno.test(`a lookup for a ${name} over ${scheme} has its turn with the organisation of its event, and waits for half of the time`, async () => {
      for (const kind of ['http1', 'fetch']) {
        const asked: Asked[] = []
        const transport = transportsTo(asked)[kind]
        if (transport === undefined) throw new Error('no such transport')
        const url = `${scheme}://hooks.test/x`
        const outcome = await sender.send(
          sampleDelivery(),
          sampleEndpoint({ url, credentials: { url }, timeout_ms: 9_000 }),
          sampleEvent({ org_id: 'org-7' }),
          {
            transport,
            keys: createKeyCache(),
            policy,
            settings: sampleSettings(),
            wallNow: Date.now,
          },
        )
        await transport.close()
        expect(outcome).toMatchObject({ outcome: 'failed', error_class: 'dns' })
        expect([kind, asked]).toEqual([kind, [['hooks.test', { org: 'org-7', waitMs: 4_500 }]]])
      }
    })
  }
}
