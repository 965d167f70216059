import type { ModuleMetadata, Type } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../../kernel/index.js';

/** A request of the host, of Express or Fastify, after its global guards. */
export interface HostRequest {
  readonly headers: IncomingHttpHeaders;
  /** Set by the guards of the host, such as those of Passport. */
  readonly user?: unknown;
  readonly session?: unknown;
  readonly [property: string]: unknown;
}

/** Options of every module that mounts routes in a host. */
export interface MountOptions<Request extends object = HostRequest> {
  /**
   * The principal of the user that the host authenticated; `undefined` (status 401) for none. It is called once for each
   * request, after the global guards of the host.
   */
  readonly principal: (request: Request) => Principal | null | undefined | Promise<Principal | null | undefined>;
}

/** Routes that a host can mount. */
export interface Surface {
  /** Modules and providers that the controllers need. */
  readonly imports: NonNullable<ModuleMetadata['imports']>;
  readonly providers: NonNullable<ModuleMetadata['providers']>;
  readonly controllers: readonly Type[];
  /** Global prefix of the controllers in the server, such as `/api`, or an empty text. */
  readonly prefix: string;
  /** Path in the server of the mounted path: the prefix, or the path of the controllers. */
  readonly base: string;
}

/** Routes at a path of a host. */
export interface Mount {
  /** The call that mounts them, for messages: `JackdawHttpModule.forRoot`. */
  readonly name: string;
  readonly surface: Surface;
  /** Path below the global prefix of the host, such as `jackdaw`. */
  readonly path: string;
  /** The selected routes, such as `agent/chat` or `GET runs`; `undefined` for all. */
  readonly routes?: readonly string[] | undefined;
  /** Whether the OpenAPI document of the host has the routes. */
  readonly isDocumented?: boolean;
  readonly principal: MountOptions<never>['principal'];
}

/** A request that the host passes to mounted routes. */
export interface HostCall {
  readonly request: HostRequest;
  /** The path at which the host serves the routes, such as `/v1/jackdaw`. */
  readonly base: string;
}
