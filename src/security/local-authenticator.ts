import { Injectable } from '@nestjs/common';
import type { Principal } from '../common/index.js';
import { ApiKeyAuthenticator } from './api-key-authenticator.js';
import { Authenticator } from './authenticator.js';
import { KeyUseRegistry } from './keys/key-use.registry.js';
import { LOCAL, refuseForeignHost } from './local-host.policy.js';
import type { CredentialRequest } from './principal-request.types.js';

/** The default: keys where there are any, else whoever sits at this machine. */
@Injectable()
export class LocalAuthenticator extends Authenticator {
  constructor(
    private readonly use: KeyUseRegistry,
    private readonly keys: ApiKeyAuthenticator,
  ) {
    super();
  }

  async authenticate(request: CredentialRequest): Promise<Principal | null> {
    if (await this.use.areNeeded()) return this.keys.authenticate(request);
    refuseForeignHost(request);
    return LOCAL;
  }

  /** Without keys nobody was ever given rights to revoke. */
  async lookUp(principal: Principal): Promise<Principal | null> {
    return (await this.use.areNeeded()) ? this.keys.lookUp(principal) : principal;
  }
}
