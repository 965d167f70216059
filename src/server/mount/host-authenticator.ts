import type { IncomingMessage } from 'node:http';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { Authenticator, type CredentialRequest } from '../../security/index.js';
import type { HostCall, Mount } from './mount.types.js';

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
