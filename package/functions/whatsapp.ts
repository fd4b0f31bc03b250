export { serve } from '../../functions/whatsapp/serve.ts'
