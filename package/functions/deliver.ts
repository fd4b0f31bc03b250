export { serveRuns as serve } from '../../functions/deliver/serve.ts'
