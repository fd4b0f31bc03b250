import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import { createConnector } from '../../../../functions/_shared/connect/connector.ts'
import { faultOf } from '../../../../functions/_shared/transport/fault.ts'
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

Deno.test('openSocket(), vettedOptions() and createConnector() refuse a port, to which a broker may redirect', async () => {
  const rules = { allowHttp: true, allowCidrs: ['127.0.0.2/32'] }
  for (
    const ports of [{ denyPorts: ['11211'] }, { allowPorts: ['443', '9092'] }]
  ) {
    const strict = createAddressPolicy({ ...rules, ...ports })
    const to = { hostname: '127.0.0.2', port: 11211, tls: false }
    expect(() => vettedOptions({ ...to, policy: strict })).toThrow('The port is not allowed')
    expect(() => openSocket({ ...to, policy: strict })).toThrow('The port is not allowed')
    expect(vettedOptions({ ...to, port: 9092, policy: strict })).toMatchObject({ port: 9092 })
    for (const proxyUrl of ['', 'http://127.0.0.1:9']) {
      const proxied = createAddressPolicy({ ...rules, ...ports, proxyUrl })
      const connect = createConnector({ policy: proxied })
      const result = await new Promise((resolve) => connect(to, 1_000, resolve))
      expect(faultOf(result)).toEqual({
        kind: 'fault',
        errorClass: 'blocked',
        message: 'The port is not allowed: use 443',
      })
    }
  }
})
