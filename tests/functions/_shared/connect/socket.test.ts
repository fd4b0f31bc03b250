import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import { BlockedAddressError } from '../../../../functions/_shared/connect/lookup.ts'
import { openSocket, vettedOptions } from '../../../../functions/_shared/connect/socket.ts'

const policy = createAddressPolicy({ allowHttp: true, allowCidrs: ['127.0.0.2/32'] })

Deno.test('openSocket() and vettedOptions() refuse a blocked literal address, for which clients need no lookup', () => {
  for (const hostname of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1']) {
    expect(() => vettedOptions({ hostname, port: 5672, policy })).toThrow(BlockedAddressError)
    expect(() => openSocket({ hostname, port: 5672, tls: false, policy }))
      .toThrow(BlockedAddressError)
  }
  expect(vettedOptions({ hostname: '127.0.0.2', port: 5672, policy }))
    .toMatchObject({ host: '127.0.0.2', port: 5672 })
})
