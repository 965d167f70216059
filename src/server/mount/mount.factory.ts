import { All, Controller, type DynamicModule, SetMetadata, type Type, UseGuards } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import { NO_BROWSER_SESSIONS, RequestAuthenticator } from '../../security/index.js';
import { documentedControllers, documentationProvider } from './documented.controller.js';
import { HostRoutesModule } from './host-routes.module.js';
import { WILDCARD } from './host-routes.service.js';
import { MountGuard } from './mount.guard.js';
import type { Mount } from './mount.js';
import { MOUNT, MountedRoutesService } from './mounted-routes.service.js';

/** A path below the global prefix, without slashes at its ends. */
const PATH = /^[\w.~-]+(\/[\w.~-]+)*$/;

/**
 * @param options as the host gave them, of which only `known` are options
 * @throws AppError `CONFIG_INVALID` without `principal`, for an invalid path, and for an unknown option
 */
export function assertMount(
  { name, path, principal }: Omit<Mount, 'surface'>,
  options: object,
  known: readonly string[],
): void {
  const unknown = Object.keys(options).find((option) => !known.includes(option));
  if (unknown !== undefined) throw invalid(`${name} has no option "${unknown}"; it has ${known.join(', ')}.`);
  if (typeof principal !== 'function') {
    throw invalid(
      `${name} needs \`principal\`, a function that returns the principal of a request to your application.`,
    );
  }
  if (!PATH.test(path)) throw invalid(`${name} needs a path such as jackdaw or ai/agents; got "${path}".`);
}

function invalid(message: string): AppError {
  return new AppError('CONFIG_INVALID', message);
}

/** A module that serves routes of Jackdaw at a path of the host. */
export function mountModule(module: Type, mount: Mount): DynamicModule {
  const { imports, providers, controllers } = mount.surface;
  return {
    module,
    imports: [...imports, HostRoutesModule],
    providers: [
      { provide: MOUNT, useValue: mount },
      MountedRoutesService,
      {
        provide: RequestAuthenticator,
        useFactory: ({ authenticator }: MountedRoutesService) =>
          new RequestAuthenticator(authenticator, NO_BROWSER_SESSIONS),
        inject: [MountedRoutesService],
      },
      ...providers,
      // Nest routes only the classes in `controllers`.
      ...controllers,
      ...(mount.isDocumented ? [documentationProvider] : []),
    ],
    // Its wildcard comes first: it marks the path.
    controllers: [createController(mount.path), ...(mount.isDocumented ? documentedControllers(mount) : [])],
  };
}

function createController(path: string): Type {
  @UseGuards(MountGuard)
  @SetMetadata('swagger/apiExcludeController', [true])
  @Controller(path)
  class JackdawRoutes {
    /** Never runs, as the guard answers. */
    @All([WILDCARD, ''])
    answer(): void {
      return undefined;
    }
  }
  return JackdawRoutes;
}
