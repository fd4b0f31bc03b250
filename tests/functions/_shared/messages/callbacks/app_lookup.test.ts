import { expect } from '@std/expect'
import {
  type AppLookup,
  createAppLookup,
} from '../../../../../functions/_shared/messages/callbacks/app_lookup.ts'
import type { App, AppReply } from '../../../../../functions/_shared/messages/callbacks/database.ts'

const app: App = { id: '77', secrets: ['first'], allowUnsigned: false }
const nothing: AppReply = { ok: true, app: null }

type Scene = {
  lookup: AppLookup
  /** The keys that the database was asked for, in order. */
  asked: (string | null)[]
  apps: Map<string | null, App>
  pass(ms: number): void
}

/** `answer`: instead of the app in `apps`. */
function scene(answer?: (key: string | null) => Promise<AppReply>): Scene {
  const asked: (string | null)[] = []
  const apps = new Map<string | null, App>([['known', app]])
  let at = 1000
  const lookup = createAppLookup((key) => {
    asked.push(key)
    return answer?.(key) ?? Promise.resolve({ ok: true, app: apps.get(key) ?? null })
  }, () => at)
  return { lookup, asked, apps, pass: (ms) => at += ms }
}

Deno.test('an app is read again after 5 s', async () => {
  const { lookup, asked, apps, pass } = scene()
  await lookup.find('known')
  apps.set('known', { ...app, secrets: ['second'] })
  pass(4999)
  expect(await lookup.find('known')).toMatchObject({ ok: true, app })
  expect(asked).toEqual(['known'])
  pass(1)
  expect(await lookup.find('known')).toMatchObject({ app: { secrets: ['second'] } })
  expect(asked).toEqual(['known', 'known'])
})

Deno.test('only a call of its own is not kept, and confirm() always makes one', async () => {
  const { lookup, asked } = scene()
  const both = await Promise.all([lookup.find('known'), lookup.find('known')])
  expect(both).toMatchObject([{ isKept: false }, { isKept: true }])
  expect(await lookup.find('known')).toMatchObject({ isKept: true })
  expect(asked).toHaveLength(1)
  expect(await Promise.all([lookup.confirm('known'), lookup.confirm('known')]))
    .toEqual(Array(2).fill({ ok: true, app, isKept: false }))
  expect(asked).toHaveLength(3)
  await lookup.find('other')
  expect(await lookup.find('other')).toEqual({ ok: true, app: null, isKept: true })
})

Deno.test('a key without an app, and an app without a secret, are read again after 1 s', async () => {
  for (const first of [null, { ...app, secrets: [] }]) {
    for (const key of ['other', null]) {
      const { lookup, asked, apps, pass } = scene()
      if (first !== null) apps.set(key, first)
      expect(await lookup.find(key)).toMatchObject({ ok: true, app: first })
      apps.set(key, app)
      pass(999)
      expect(await lookup.find(key)).toMatchObject({ ok: true, app: first })
      expect(asked).toEqual([key])
      pass(1)
      expect(await lookup.find(key)).toMatchObject({ ok: true, app })
    }
  }
})

Deno.test('the age of an app counts from before the call that read it', async () => {
  const { lookup, asked, pass } = scene(() => {
    pass(2000)
    return Promise.resolve({ ok: true, app })
  })
  await lookup.find('known')
  pass(2999)
  await lookup.find('known')
  expect(asked).toHaveLength(1)
  pass(1)
  await lookup.find('known')
  expect(asked).toHaveLength(2)
})

Deno.test('a signature that does not match reads the app again, at most once a second', async () => {
  const { lookup, asked, apps, pass } = scene()
  expect(await lookup.findAgain('known')).toBeNull()
  await lookup.find('known')
  apps.set('known', { ...app, secrets: ['second'] })
  expect(await lookup.findAgain('known')).toMatchObject({ app: { secrets: ['second'] } })
  expect(await lookup.find('known')).toMatchObject({ app: { secrets: ['second'] } })
  expect(asked).toHaveLength(2)
  pass(999)
  expect(await lookup.findAgain('known')).toBeNull()
  expect(asked).toHaveLength(2)
  pass(1)
  expect(await lookup.findAgain('known')).not.toBeNull()
  expect(asked).toHaveLength(3)
})

Deno.test('an app that was removed is found no longer', async () => {
  const { lookup, apps } = scene()
  await lookup.find('known')
  apps.delete('known')
  expect(await lookup.findAgain('known')).toMatchObject(nothing)
  expect(await lookup.find('known')).toMatchObject(nothing)
  expect(await lookup.findAgain('known')).toBeNull()
})

Deno.test('what the database could not answer is asked again at once', async () => {
  let isDown = true
  const { lookup } = scene(() =>
    isDown
      ? Promise.resolve({ ok: false, error: 'outbox.callback_app fails with 0' })
      : Promise.resolve({ ok: true, app })
  )
  expect(await lookup.find('known')).toMatchObject({ ok: false })
  isDown = false
  expect(await lookup.find('known')).toMatchObject({ ok: true, app })
})

Deno.test('at most 4 unknown keys are looked up at once; others are busy, and known apps are not', async () => {
  const open: (() => void)[] = []
  const { lookup, asked, pass } = scene((key) => {
    if (key === 'known') return Promise.resolve({ ok: true, app })
    return new Promise((resolve) => open.push(() => resolve(nothing)))
  })
  await lookup.find('known')
  pass(5000)
  const waiting = ['a', 'b', 'c', 'd'].map((key) => lookup.find(key))
  expect(await lookup.find('e')).toBe('busy')
  const same = lookup.find('a')
  expect(await lookup.find('known')).toMatchObject({ ok: true, app })
  expect(await lookup.find('e')).toBe('busy')
  expect(asked).toEqual(['known', 'a', 'b', 'c', 'd', 'known'])
  for (const finish of open) finish()
  expect(await Promise.all([...waiting, same])).toMatchObject(Array(5).fill(nothing))
  const later = lookup.find('e')
  expect(asked.at(-1)).toBe('e')
  open.at(-1)?.()
  expect(await later).toMatchObject(nothing)
})

Deno.test('a call that fails frees its place', async () => {
  const { lookup } = scene(() => Promise.reject(new Error('out of memory')))
  for (let n = 0; n < 10; n++) {
    await expect(lookup.find(`key ${n}`)).rejects.toThrow('out of memory')
  }
})

Deno.test('many keys without an app forget each other, and no app', async () => {
  const { lookup, asked } = scene()
  await lookup.find('known')
  for (let n = 0; n < 257; n++) await lookup.find(`key ${n}`)
  asked.length = 0
  await lookup.find('known')
  await lookup.find('key 1')
  await lookup.find('key 256')
  expect(asked).toEqual([])
  await lookup.find('key 0')
  expect(asked).toEqual(['key 0'])
})

Deno.test('at most 100 apps are kept, those that were read last', async () => {
  const { lookup, asked } = scene(() => Promise.resolve({ ok: true, app }))
  for (let n = 0; n < 101; n++) await lookup.find(`key ${n}`)
  asked.length = 0
  await lookup.find('key 1')
  expect(asked).toEqual([])
  await lookup.find('key 0')
  expect(asked).toEqual(['key 0'])
})
