import { type DynamicModule, Module } from '@nestjs/common';
import { loadPackage } from './errors/index.js';
import { assertMount, type HostRequest, mountModule, type MountOptions, type Surface } from './server/index.js';

export interface JackdawHttpOptions<Request extends object = HostRequest> extends MountOptions<Request> {
  /** Path of the routes below the global prefix of the application; default `jackdaw`, as in `POST /jackdaw/agent/chat`. */
  readonly prefix?: string;
  /**
   * The routes to mount, each with those below it, such as `agent/chat`, `GET runs` or `runs/:id/events`; default all.
   */
  readonly routes?: readonly string[];
  /** Whether the OpenAPI document of the application (`SwaggerModule`) has the routes; default false. */
  readonly openapi?: boolean;
}

/** The REST API of Jackdaw as routes of an application; docs/http-module.md. */
@Module({})
export class JackdawHttpModule {
  /**
   * A promise, as Nest accepts it in `imports`: only this call loads the routes.
   * @throws AppError `CONFIG_INVALID` without `principal`, and for an unknown option or a prefix that is no path
   */
  static forRoot<Request extends object = HostRequest>(options: JackdawHttpOptions<Request>): Promise<DynamicModule> {
    const { prefix: path = 'jackdaw', routes, openapi: isDocumented = false, principal } = options;
    const mount = { name: 'JackdawHttpModule.forRoot', path, routes, isDocumented, principal };
    assertMount(mount, options, ['prefix', 'routes', 'principal', 'openapi']);
    return loadRoutes().then((surface) => mountModule(JackdawHttpModule, { ...mount, surface }));
  }
}

async function loadRoutes(): Promise<Surface> {
  const [{ REST_ROUTES: rest }, { HEALTH_ROUTES: health }] = await Promise.all([
    import('./api/index.js'),
    loadPackage('@nestjs/terminus', 'JackdawHttpModule', () => import('./health/index.js')),
  ]);
  return {
    imports: [...rest.imports, ...health.imports],
    providers: [...rest.providers, ...health.providers],
    controllers: [...rest.controllers, ...health.controllers],
    prefix: '/api',
    base: '/api',
  };
}
