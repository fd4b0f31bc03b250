// The worker as a program of your own: change it as you need, for example to send the log elsewhere.
import process from 'node:process'
import { runWorker } from 'outhook-worker'

const { OUTHOOK_DB_URL, OUTHOOK_PROJECT, ...variables } = process.env
const stop = new AbortController()
process.on('SIGTERM', () => stop.abort())
process.on('SIGINT', () => stop.abort())

await runWorker({
  dbUrl: OUTHOOK_DB_URL,
  project: OUTHOOK_PROJECT,
  signal: stop.signal,
  variables,
})
