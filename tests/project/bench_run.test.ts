import { expect } from '@std/expect'
import { throughput } from '../bench/questions/throughput.ts'
import { startBench } from '../bench/run/bench.ts'
import { drain } from '../bench/run/drain.ts'
import { enter, leave } from '../bench/run/enter.ts'
import { pickSides, sides } from '../bench/sides/catalog.ts'

Deno.test('the benchmark measures two sides and a fan-out, and a side that loses an event is a problem', async () => {
  const bench = await startBench(() => {})
  try {
    const chosen = pickSides([...sides], ['outhook direct', 'naive deno'])
    const answer = await throughput.run(bench, {
      quick: true,
      sides: chosen,
      rounds: 1,
      events: 300,
    })
    expect(answer.problems).toEqual([])
    expect(answer.rows.map(({ series }) => series)).toEqual(['outhook direct', 'naive deno'])
    for (const { values } of answer.rows) expect(values.perSecond).toBeGreaterThan(10)

    const naive = chosen.filter(({ source }) => source === 'naive')
    const contestants = await enter(bench, naive, { endpoints: 1, hasPublisher: false }, [])
    const [contestant] = contestants
    if (contestant === undefined) throw new Error('the naive side did not start')
    // What another round left behind is in nobody's books.
    await contestant.worker.ask({ do: 'publish', from: 0, count: 1, batch: 1 })
    await expect(drain(bench, contestant.spec, contestant.worker, 10)).rejects.toThrow(
      'naive deno: 1 arrived a second time',
    )
    await leave(contestants)

    const [outhook] = chosen
    if (outhook === undefined) throw new Error('Outhook was not chosen')
    await bench.prepare(outhook, 3, { isFan: true })
    const worker = await bench.start(outhook, 'worker', 3, { isFan: true })
    // The books agree only when each of 20 events reached each of 3 endpoints once.
    expect((await drain(bench, outhook, worker, 20, 3)).perSecond).toBeGreaterThan(1)
    await worker.end()
  } finally {
    await bench.stop()
  }
})
