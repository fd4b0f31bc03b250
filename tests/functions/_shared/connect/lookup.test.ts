import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import {
  BlockedAddressError,
  lookupVetted,
  vettedLookup,
} from '../../../../functions/_shared/connect/lookup.ts'
import type { Resolve } from '../../../../functions/_shared/connect/share_lookups.ts'

const strict = createAddressPolicy({ allowHttp: false, allowCidrs: [] })

function resolveTo(...addresses: string[]): Resolve {
  return () =>
    Promise.resolve(
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
}

Deno.test('lookupVetted() refuses a name that has one refused address among public ones', async () => {
  for (const bad of ['10.0.0.1', '::1', '::ffff:8.8.8.8']) {
    const lookup = lookupVetted('mixed.test', strict, resolveTo('8.8.8.8', bad))
    await expect(lookup).rejects.toThrow(BlockedAddressError)
  }
})

Deno.test('lookupVetted() returns IPv4 before IPv6', async () => {
  const resolve = resolveTo('2606:4700::1111', '1.1.1.1')
  expect(await lookupVetted('both.test', strict, resolve)).toEqual([
    { address: '1.1.1.1', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ])
})

Deno.test('vettedLookup() supports both forms of results', async () => {
  const lookup = vettedLookup(strict, resolveTo('1.1.1.1', '2606:4700::1111'))
  const one = await new Promise((done) => {
    lookup('both.test', { all: false }, (error, address, family) => done([error, address, family]))
  })
  expect(one).toEqual([null, '1.1.1.1', 4])
  const all = await new Promise((done) => {
    lookup('both.test', { all: true }, (error, addresses) => done([error, addresses]))
  })
  expect(all).toEqual([null, [
    { address: '1.1.1.1', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ]])
})

Deno.test('vettedLookup() passes on errors of resolver and policy', async () => {
  const broken = Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' })
  const rows: [Resolve, string][] = [
    [() => Promise.reject(broken), 'ENOTFOUND'],
    [resolveTo(), 'ENOTFOUND'],
    [resolveTo('127.0.0.1'), 'OUTHOOK_BLOCKED'],
  ]
  for (const [resolve, code] of rows) {
    const error = await new Promise((done) => {
      vettedLookup(strict, resolve)('name.test', { all: true }, (error) => done(error))
    })
    expect(error).toMatchObject({ code })
  }
})

Deno.test('lookupVetted() leaves a shared result as it is', async () => {
  const shared = [{ address: '2606:4700::1111', family: 6 }, { address: '1.1.1.1', family: 4 }]
  await lookupVetted('both.test', strict, () => Promise.resolve(shared))
  expect(shared.map(({ family }) => family)).toEqual([6, 4])
})
