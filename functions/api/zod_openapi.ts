/**
 * The parts of @hono/zod-openapi that the API uses. Its peer dependencies come first. Else Deno resolves them to the
 * newest versions that the registry names: a second copy of hono, which a local start and the tests have not fetched.
 */

import 'hono'
import 'zod'

export { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
