export { serve } from '../../functions/metrics/serve.ts'
