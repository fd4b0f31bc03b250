import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { waitingFiles } from '../_run/steps.ts'
import { wasIdle } from '../_run/idle.ts'
import { type Job, runJobs, type Width } from '../_run/schedule.ts'

/** Jobs that note their begin and their end, and end when told to. */
function makeJobs(names: string[]): {
  jobs: Job[]
  seen: string[]
  end: (name: string) => Promise<void>
} {
  const seen: string[] = []
  const ends = new Map(names.map((name) => [name, Promise.withResolvers<void>()]))
  const jobs = names.map((name): Job => ({
    alone: name.startsWith('alone'),
    waits: name.startsWith('waits'),
    async run(): Promise<void> {
      seen.push(`${name} begins`)
      await ends.get(name)?.promise
      seen.push(`${name} ends`)
    },
  }))
  return {
    jobs,
    seen,
    async end(name): Promise<void> {
      ends.get(name)?.resolve()
      // Wait until the waiting job has begun.
      await new Promise((resolve) => setTimeout(resolve, 0))
    },
  }
}

function width(slots: number): Width {
  return { slots, spare: 0, isIdle: () => Promise.resolve(false) }
}

Deno.test('runJobs() runs two side by side and begins the next when one ends', async () => {
  const { jobs, seen, end } = makeJobs(['a', 'b', 'c'])
  const done = runJobs(jobs, width(2), () => false)
  expect(seen).toEqual(['a begins', 'b begins'])
  await end('b')
  expect(seen.slice(2)).toEqual(['b ends', 'c begins'])
  await end('a')
  await end('c')
  await done
})

Deno.test('runJobs() runs a job that asks to be alone after the others, with nothing beside it', async () => {
  const { jobs, seen, end } = makeJobs(['alone 1', 'a', 'alone 2', 'b'])
  const done = runJobs(jobs, width(2), () => false)
  for (const name of ['a', 'b', 'alone 1', 'alone 2']) await end(name)
  await done
  expect(seen).toEqual([
    ...['a begins', 'b begins', 'a ends', 'b ends'],
    ...['alone 1 begins', 'alone 1 ends', 'alone 2 begins', 'alone 2 ends'],
  ])
})

Deno.test('runJobs() runs two that wait beside those that keep the slots, and before those alone', async () => {
  const names = ['alone', 'a', 'waits 1', 'waits 2', 'waits 3', 'b', 'c']
  const { jobs, seen, end } = makeJobs(names)
  const done = runJobs(jobs, width(2), () => false)
  expect(seen).toEqual(['a begins', 'b begins', 'waits 1 begins', 'waits 2 begins'])
  await end('a')
  expect(seen.slice(4)).toEqual(['a ends', 'c begins'])
  await end('waits 1')
  expect(seen.slice(6)).toEqual(['waits 1 ends', 'waits 3 begins'])
  for (const name of ['b', 'c', 'waits 2']) await end(name)
  expect(seen).not.toContain('alone begins')
  await end('waits 3')
  await end('alone')
  await done
  expect(seen.slice(-2)).toEqual(['alone begins', 'alone ends'])
})

Deno.test('every file that is listed as waiting exists', async () => {
  for (const file of waitingFiles) {
    expect((await Deno.stat(join(projectRoot, file))).isFile).toBe(true)
  }
})

Deno.test('runJobs() begins nothing more once it is stopped', async () => {
  const { jobs, seen, end } = makeJobs(['a', 'b', 'alone'])
  let stopped = false
  const done = runJobs(jobs, width(1), () => stopped)
  stopped = true
  await end('a')
  await done
  expect(seen).toEqual(['a begins', 'a ends'])
})

Deno.test('runJobs() runs more than the slots while the machine is idle, and no more while it is not', async () => {
  const { jobs, seen, end } = makeJobs(['a', 'b', 'c', 'd'])
  let look = Promise.withResolvers<boolean>()
  const isIdle = (): Promise<boolean> => look.promise
  const tell = async (idle: boolean): Promise<void> => {
    const { resolve } = look
    look = Promise.withResolvers()
    resolve(idle)
    await new Promise((next) => setTimeout(next, 0))
  }
  const done = runJobs(jobs, { slots: 1, spare: 1, isIdle }, () => false)
  await tell(false)
  expect(seen).toEqual(['a begins'])
  await tell(true)
  expect(seen).toEqual(['a begins', 'b begins'])
  await end('b')
  await tell(false)
  expect(seen.slice(2)).toEqual(['b ends'])
  await end('a')
  await tell(true)
  expect(seen.slice(3)).toEqual(['a ends', 'c begins', 'd begins'])
  await end('c')
  await end('d')
  await done
})

Deno.test('wasIdle() asks for more than a quarter of the time of all cores', () => {
  const before = { idle: 1_000, all: 9_000 }
  expect(wasIdle(before, { idle: 2_000, all: 13_000 })).toBe(false)
  expect(wasIdle(before, { idle: 2_001, all: 13_000 })).toBe(true)
  expect(wasIdle(before, before)).toBe(false)
})
