import { Inject, Injectable } from '@nestjs/common';
import { type McpEndpointConfig, mcpServerConfig } from '../config/index.js';
import type { Principal } from '../kernel/index.js';
import { ApiKeyAuthenticator } from './api-key-authenticator.js';
import { Authenticator } from './authenticator.js';
import { assertLocal } from './caller-origin.policy.js';
import { KeyUseRegistry } from './request-authenticator.service.js';
import type { CredentialRequest } from './principal-request.types.js';

/** The principal of every request to a server without keys, which serves its own machine only. */
export const LOCAL: Principal = Object.freeze({
  id: 'local',
  tenant: 'default',
  roles: Object.freeze(['admin', 'operator']),
});

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
