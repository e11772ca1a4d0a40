import manifest from '../../package.json' with { type: 'json' }
import type { Route } from './http-handler.ts'
import { openApi } from './openapi.ts'
import { claimRoutes } from './routes-claims.ts'
import { costRoutes } from './routes-costs.ts'
import { fleetRoutes } from './routes-fleets.ts'
import { healthRoutes } from './routes-health.ts'
import { instanceRoutes } from './routes-instances.ts'
import { offerRoutes } from './routes-offers.ts'
import { openApiRoutes } from './routes-openapi.ts'

const routes: Route[] = [
  ...offerRoutes,
  ...instanceRoutes,
  ...claimRoutes,
  ...costRoutes,
  ...fleetRoutes,
  ...openApiRoutes(async () => openApiDocument),
  ...healthRoutes,
]

/** What `GET /openapi.json` answers. A bundle has this text in place of this module. */
export const openApiDocument: string = JSON.stringify(openApi(routes, manifest.version))
