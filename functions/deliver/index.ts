import { serveRuns } from './serve.ts'

await serveRuns()
