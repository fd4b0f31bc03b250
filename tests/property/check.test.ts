import { expect } from '@std/expect'
import { findFailure, PATH, type Play, SEED } from './_support/check.ts'
import type { Script } from './_support/script.ts'
import type { Seen, Trace } from './_support/trace.ts'
import type { World } from './_support/world.ts'

/** A world in which nothing ever happens, but for what `wrong` says of a step. */
function worldWhere(wrong: (script: Script) => string[]): World {
  return {
    play: (script) => Promise.resolve(traceOf(script, wrong(script))),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

function traceOf({ endpoints }: Script, broken: string[]): Trace {
  const seen: Seen = {
    ...{
      step: { op: 'cleanup' },
      did: {},
      at: 0,
      events: null,
      unrouted: [],
      attempts: [],
      open: [],
    },
    gates: endpoints.map((
      _,
      n,
    ) => [`00000000-0000-4000-8000-00000000000${n}`, 'enabled', 'closed', 0, 0, 0, false]),
    broken,
  }
  return { seen: [seen], ending: { settled: true, rounds: 0 } }
}

function isRefused({ steps }: Script): string[] {
  const cancels = steps.filter(({ op }) => op === 'cancel').length
  return cancels >= 2 ? [`${cancels} cancels`] : []
}

function playOf(more: Partial<Play> = {}): Play & { said: string[] } {
  const said: string[] = []
  const say = (line: string): void => void said.push(line)
  const rest = { sequences: 200, steps: 30, seed: 7, command: 'deno task test property/engine' }
  return { ...rest, say, said, ...more }
}

Deno.test('findFailure() gives nothing when every sequence passes', async () => {
  const play = playOf()
  expect(await findFailure(worldWhere(() => []), play)).toBeNull()
  expect(play.said).toEqual([])
})

Deno.test('findFailure() tells the seed at once, then the shortest sequence and how to repeat it', async () => {
  const play = playOf()
  const failure = await findFailure(worldWhere(isRefused), play) ?? ''
  expect(play.said).toHaveLength(1)
  expect(play.said[0]).toContain(`Again: ${SEED}=7 deno task test property/engine\n`)
  expect(failure.match(/^ {2}step \d+ \{"op":"cancel"/gm)).toHaveLength(2)
  expect(failure.match(/^ {2}step /gm)?.length).toBeLessThan(6)
  expect(failure).toContain('\nstep 0 (cleanup): 2 cancels\n')

  const last = failure.split('\n').at(-1) ?? ''
  const [, seed, path] = new RegExp(`^Again: ${SEED}=(\\d+) ${PATH}=([\\d:]+) deno task test`)
    .exec(last) ?? []
  expect(seed).toBe('7')
  const replayed = await findFailure(worldWhere(isRefused), playOf({ path: path ?? '' })) ?? ''
  expect(replayed.split('\n').slice(1, -1)).toEqual(failure.split('\n').slice(1, -1))
})

Deno.test('findFailure() tells what it saw when the sequence passes at a second try', async () => {
  let plays = 0
  const failure = await findFailure(worldWhere(() => ++plays === 5 ? ['once'] : []), playOf()) ?? ''
  expect(failure).toContain('Played once more it passes')
  expect(failure).toContain('\nstep 0 (cleanup): once\n')
  expect(failure).toMatch(new RegExp(`Again: ${SEED}=7 ${PATH}=4 deno task`))
})

Deno.test('findFailure() tells what the database raised', async () => {
  const world: World = {
    play: () => Promise.reject(new Error('deadlock detected')),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  const failure = await findFailure(world, playOf()) ?? ''
  expect(failure).toContain('\na step raised deadlock detected\nAgain: ')
})
