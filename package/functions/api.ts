export { serve } from '../../functions/api/serve.ts'
