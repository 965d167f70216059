import { Injectable } from '@nestjs/common';
import type { ContentFilter, ContentPlace } from '../../security/index.js';
import { compilePolicies, type CompiledPolicy, type SourcedPolicy } from './compiled-policy.factory.js';
import { loadPolicy } from './security-policy.loader.js';
import { parsePolicy, policyCodeSchema } from './security-policy.schema.js';
import type { SecurityPolicy } from './security-policy.types.js';

/** Without a policy nothing is looked at but what strangers may have a run do. */
const NOTHING: CompiledPolicy = {
  rules: [],
  checks: [],
  limits: [],
  filters: { input: null, results: null, output: null },
  taint: 'approval',
};

const CODE = 'securityPolicy';

/** Owns what agents may do: the policy of the configuration's file and the one that code gave, together. */
@Injectable()
export class SecurityPolicies {
  private compiled = NOTHING;
  private file: SourcedPolicy | null = null;

  /**
   * @param path of the policy's file, if there is one
   * @throws AppError `CONFIG_INVALID` with every mistake of a policy and its place
   */
  static async open(path?: string, given?: SecurityPolicy): Promise<SecurityPolicies> {
    const policies = new SecurityPolicies();
    if (path !== undefined) policies.file = { source: path, policy: loadPolicy(path) };
    await policies.set(given);
    return policies;
  }

  /** What holds now. */
  get current(): CompiledPolicy {
    return this.compiled;
  }

  /** What is looked for in a place; `null` for nothing. */
  filter(place: ContentPlace): ContentFilter | null {
    return this.compiled.filters[place];
  }

  /**
   * Puts a policy in the place of the one that code gave before; the file's holds on. What runs have decided stays.
   * @throws AppError `CONFIG_INVALID` with every mistake; nothing changes then
   */
  async set(given?: SecurityPolicy): Promise<void> {
    const code = given && { source: CODE, policy: parsePolicy(given, policyCodeSchema, CODE) };
    const all = [this.file, code].filter((one) => one !== null && one !== undefined);
    this.compiled = all.length === 0 ? NOTHING : await compilePolicies(all);
  }
}
