export { serve } from '../../functions/ops-alerts/serve.ts'
