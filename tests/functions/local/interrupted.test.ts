import { expect } from '@std/expect'
import { abortable, Interrupted } from '../../../supabase/local/interrupted.ts'

Deno.test('a child that Ctrl-C ends first does not hide that the command was interrupted', async () => {
  const controller = new AbortController()
  const work = Promise.reject(new Error('Cannot publish: '))
  const outcome = expect(abortable(work, controller.signal)).rejects.toBeInstanceOf(Interrupted)
  setTimeout(() => controller.abort(new Interrupted('interrupted')), 1)
  await outcome
})

Deno.test('a failure without a signal stays the failure', async () => {
  const failure = new Error('Cannot publish: no such table')
  const { signal } = new AbortController()
  await expect(abortable(Promise.reject(failure), signal)).rejects.toBe(failure)
})

Deno.test('a signal ends the wait for work that never ends', async () => {
  const controller = new AbortController()
  const outcome = expect(abortable(new Promise(() => {}), controller.signal)).rejects
    .toBeInstanceOf(Interrupted)
  controller.abort(new Interrupted('interrupted'))
  await outcome
})
