import { Injectable } from '@nestjs/common';
import type { Principal } from '../common/index.js';
import { ApiKeyRegistry } from './api-key.registry.js';
import { PrincipalDirectory } from './principal-directory.js';

/** A principal is who still has a key. Without configured keys nobody was ever given rights to revoke. */
@Injectable()
export class ApiKeyPrincipalDirectory extends PrincipalDirectory {
  constructor(private readonly keys: ApiKeyRegistry) {
    super();
  }

  async lookUp(principal: Principal): Promise<Principal | null> {
    if (this.keys.isEmpty) return principal;
    return this.keys.ownerOf(principal.tenant, principal.id) ?? null;
  }
}
