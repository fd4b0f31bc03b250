import { expect } from '@std/expect'
import { SetupError } from '../../../supabase/local/errors.ts'
import { abortable, Interrupted } from '../../../supabase/local/interrupted.ts'
import { fetchModules } from '../../../supabase/local/packages/fetch.ts'
import { startStack } from '../../../supabase/local/stack.ts'

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

Deno.test('a stack whose start fails just before the signal arrives was interrupted', async () => {
  const file = await Deno.makeTempFile()
  const controller = new AbortController()
  const options = { dataDir: `${file}/data`, ports: 'free', signal: controller.signal } as const
  try {
    await expect(startStack(options)).rejects.toBeInstanceOf(SetupError)
    const outcome = expect(startStack(options)).rejects.toBeInstanceOf(Interrupted)
    setTimeout(() => controller.abort(new Interrupted('interrupted')), 50)
    await outcome
  } finally {
    await Deno.remove(file)
  }
})

Deno.test('packages whose fetching Ctrl-C ends just before the signal arrives are not fetched', async () => {
  const deno = await Deno.makeTempFile()
  await Deno.writeTextFile(deno, '#!/bin/sh\nkill -INT $$\n', { mode: 0o700 })
  await Deno.chmod(deno, 0o700)
  const controller = new AbortController()
  const { signal } = controller
  try {
    setTimeout(() => controller.abort(new Interrupted('interrupted')), 150)
    await expect(fetchModules({ modules: [], cwd: '/', deno, log: () => {}, signal })).rejects
      .toBeInstanceOf(Interrupted)
  } finally {
    await Deno.remove(deno)
  }
})
