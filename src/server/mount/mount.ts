import type { ModuleMetadata, Type } from '@nestjs/common';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { Authenticator, type CredentialRequest } from '../../security/index.js';

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

/** Identifies callers as the host does. */
export class HostAuthenticator extends Authenticator {
  private readonly calls = new WeakMap<IncomingMessage, HostCall>();

  constructor(private readonly mount: Pick<Mount, 'name' | 'principal'>) {
    super();
  }

  /** Records a request before it is routed. */
  note(raw: IncomingMessage, call: HostCall): void {
    this.calls.set(raw, call);
  }

  callOf(raw: IncomingMessage): HostCall | undefined {
    return this.calls.get(raw);
  }

  /** @throws AppError `UNAUTHENTICATED` */
  async authenticate({ raw }: CredentialRequest & { readonly raw?: IncomingMessage }): Promise<Principal> {
    const call = raw && this.callOf(raw);
    const principal: unknown = await (call && this.mount.principal(call.request as never));
    if (principal === undefined || principal === null) {
      throw new AppError('UNAUTHENTICATED', 'The application has not identified the caller of this request.');
    }
    if (isPrincipal(principal)) return principal;
    const message = `\`principal\` of ${this.mount.name} must return { id, tenant, roles }, with a list of roles.`;
    throw new AppError('CONFIG_INVALID', message);
  }

  /** The host knows whether a right was revoked; here only its requests are authenticated. */
  async lookUp(principal: Principal): Promise<Principal> {
    return principal;
  }
}

function isPrincipal(value: unknown): value is Principal {
  const { id, tenant, roles } = Object(value) as Readonly<Record<string, unknown>>;
  return typeof id === 'string' && id !== '' && typeof tenant === 'string' && tenant !== '' && Array.isArray(roles);
}

/**
 * Whether a selection contains a route.
 * @param route such as `GET runs/:id`
 * @param entry the start of its path, with or without the method: `runs`, `GET runs`
 */
export function isPart(route: string, entry: string): boolean {
  const [path = '', method] = entry.split(' ').toReversed();
  const [ownMethod = '', own = ''] = route.split(' ');
  const selected = path.replace(/^\/|\/$/g, '');
  return (method === undefined || method === ownMethod) && `${own}/`.startsWith(`${selected}/`);
}

export function isSelected(route: string, selection: readonly string[] | undefined): boolean {
  return selection === undefined || selection.some((entry) => isPart(route, entry));
}
