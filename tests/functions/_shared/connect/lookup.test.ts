import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import {
  BlockedAddressError,
  lookupVetted,
  vettedLookup,
} from '../../../../functions/_shared/connect/lookup.ts'
import {
  mostLookupsOfOrg,
  type Resolve,
  type ResolvedAddress,
  shareLookups,
} from '../../../../functions/_shared/connect/share_lookups.ts'

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

Deno.test('shareLookups() makes one lookup of a name at a time, and another one after its result', async () => {
  const asked: string[] = []
  const replies: PromiseWithResolvers<ResolvedAddress[]>[] = []
  const resolve = shareLookups((hostname) => {
    asked.push(hostname)
    const reply = Promise.withResolvers<ResolvedAddress[]>()
    replies.push(reply)
    return reply.promise
  })
  const both = [resolve('slow.test'), resolve('slow.test')]
  const other = resolve('other.test')
  expect(asked).toEqual(['slow.test', 'other.test'])
  replies[1]?.resolve([])
  expect(await other).toEqual([])
  replies[0]?.reject(new Error('no reply'))
  for (const one of both) await expect(one).rejects.toThrow('no reply')
  const later = resolve('slow.test')
  expect(asked).toEqual(['slow.test', 'other.test', 'slow.test'])
  replies[2]?.resolve([{ address: '1.1.1.1', family: 4 }])
  expect(await later).toEqual([{ address: '1.1.1.1', family: 4 }])
})

Deno.test('shareLookups() keeps few lookups of an organisation in flight, and all others go on', async () => {
  const asked: string[] = []
  const replies = new Map<string, PromiseWithResolvers<ResolvedAddress[]>>()
  const resolve = shareLookups((hostname) => {
    const reply = Promise.withResolvers<ResolvedAddress[]>()
    asked.push(hostname)
    replies.set(hostname, reply)
    return reply.promise
  })
  const names = Array.from({ length: 100 }, (_, n) => `${n}.hang.test`)
  const lookups = names.map((name) => resolve(name, 'noisy'))
  // A retry asks for the same names again.
  for (const name of names) void resolve(name, 'noisy')
  expect(asked).toEqual(names.slice(0, mostLookupsOfOrg))

  void resolve('own.test', 'quiet')
  void resolve(names[50] ?? '', 'quiet')
  void resolve('operator.test')
  const others = ['own.test', names[50], 'operator.test']
  expect(asked.slice(mostLookupsOfOrg)).toEqual(others)

  replies.get('0.hang.test')?.reject(new Error('no reply'))
  await expect(lookups[0]).rejects.toThrow('no reply')
  expect(asked.at(-1)).toBe(names[mostLookupsOfOrg])
  // What the quiet one looks up already takes a place of the noisy one, and no further lookup.
  for (const name of names) {
    replies.get(name)?.resolve([])
    await lookups[names.indexOf(name)]?.catch(() => {})
  }
  expect(asked).toHaveLength(names.length + 2)
  void resolve('0.hang.test', 'noisy')
  expect(asked.at(-1)).toBe('0.hang.test')
})

Deno.test('lookupVetted() leaves a shared result as it is', async () => {
  const shared = [{ address: '2606:4700::1111', family: 6 }, { address: '1.1.1.1', family: 4 }]
  await lookupVetted('both.test', strict, () => Promise.resolve(shared))
  expect(shared.map(({ family }) => family)).toEqual([6, 4])
})
