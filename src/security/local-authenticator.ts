import { Inject, Injectable } from '@nestjs/common';
import { mcpServerConfig, type McpEndpointConfig } from '../config/index.js';
import type { Principal } from '../kernel/index.js';
import { ApiKeyAuthenticator } from './api-key-authenticator.js';
import { Authenticator } from './authenticator.js';
import { KeyUseRegistry } from './keys/key-use.registry.js';
import { assertLocal, LOCAL } from './local-caller.policy.js';
import type { CredentialRequest } from './principal-request.types.js';

/** The default authenticator: API keys if any exist, else callers from this machine only. */
@Injectable()
export class LocalAuthenticator extends Authenticator {
  constructor(
    private readonly use: KeyUseRegistry,
    private readonly keys: ApiKeyAuthenticator,
    @Inject(mcpServerConfig.KEY) private readonly config: McpEndpointConfig,
  ) {
    super();
  }

  async authenticate(request: CredentialRequest): Promise<Principal | null> {
    if (await this.use.areNeeded()) return this.keys.authenticate(request);
    assertLocal(request, this.config.allowedOrigins);
    return LOCAL;
  }

  /** Without keys there are no rights that could have been revoked. */
  async lookUp(principal: Principal): Promise<Principal | null> {
    return (await this.use.areNeeded()) ? this.keys.lookUp(principal) : principal;
  }
}
