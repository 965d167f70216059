import { Injectable } from '@nestjs/common';
import type { Principal } from '../kernel/index.js';
import { keyFrom } from './request-authenticator.service.js';
import { ApiKeyRegistry } from './api-key.registry.js';
import { Authenticator } from './authenticator.js';
import { StoredKeyRegistry } from './keys/stored-key.registry.js';
import type { CredentialRequest } from './principal-request.types.js';

/** Authenticates by API key: configured keys first, then the table. A principal exists as long as its key is valid. */
@Injectable()
export class ApiKeyAuthenticator extends Authenticator {
  constructor(
    private readonly configured: ApiKeyRegistry,
    private readonly stored: StoredKeyRegistry,
  ) {
    super();
  }

  async authenticate({ headers }: CredentialRequest): Promise<Principal | null> {
    const key = keyFrom(headers);
    if (key === undefined) return null;
    return this.configured.find(key) ?? this.stored.find(key);
  }

  async lookUp({ tenant, id }: Principal): Promise<Principal | null> {
    return this.configured.ownerOf(tenant, id) ?? this.stored.ownerOf(tenant, id);
  }
}
