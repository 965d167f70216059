import { Injectable } from '@nestjs/common';
import type { ContentFilter, ContentPlace } from '../../security/index.js';
import type { AgentRules } from './agent-rules.factory.js';
import { combine, readParts, type CompiledPolicy, type PolicyParts } from './compiled-policy.factory.js';
import type { Guardrails } from './guardrails.types.js';
import { loadPolicy } from './security-policy.loader.js';
import { parsePolicy, policyCodeSchema } from './security-policy.schema.js';
import type { SecurityPolicy } from './security-policy.types.js';

const CODE = 'securityPolicy';

/** Owns what agents may do: the policy of the configuration's file and the one that code gave, together. */
@Injectable()
export class SecurityPolicies {
  private parts: readonly PolicyParts[] = [];
  /** Without a policy nothing is looked at but what strangers may have a run do. */
  private compiled = combine([]);
  private file: PolicyParts | null = null;
  /** What holds for agents with guardrails of their own, by these, until a policy changes. */
  private under = new WeakMap<Guardrails, CompiledPolicy>();
  /** These read: their schemas are compiled once. */
  private readonly read = new WeakMap<Guardrails, PolicyParts>();

  /**
   * @param path of the policy's file, if there is one
   * @throws AppError `CONFIG_INVALID` with every mistake of a policy and its place
   */
  static async open(path?: string, given?: SecurityPolicy): Promise<SecurityPolicies> {
    const policies = new SecurityPolicies();
    if (path !== undefined) policies.file = readParts({ source: path, policy: loadPolicy(path) });
    await policies.set(given);
    return policies;
  }

  /** What holds now. */
  get current(): CompiledPolicy {
    return this.compiled;
  }

  /** What holds now for an agent that has rules of its own: they come to those of all, and take none away. */
  for(rules: AgentRules | undefined): CompiledPolicy {
    if (!rules?.guardrails) return this.compiled;
    let compiled = this.under.get(rules.guardrails);
    if (!compiled) {
      compiled = combine([...this.parts, this.own(rules.agent, rules.guardrails)]);
      this.under.set(rules.guardrails, compiled);
    }
    return compiled;
  }

  /** What is looked for in a place; `null` for nothing. */
  filter(place: ContentPlace, rules?: AgentRules): ContentFilter | null {
    return this.for(rules).filters[place];
  }

  /**
   * Puts a policy in the place of the one that code gave before; the file's holds on. What runs have decided stays.
   * @throws AppError `CONFIG_INVALID` with every mistake; nothing changes then
   */
  async set(given?: SecurityPolicy): Promise<void> {
    const code = given && readParts({ source: CODE, policy: parsePolicy(given, policyCodeSchema, CODE) });
    this.parts = [this.file, code].filter((one) => one !== null && one !== undefined);
    this.compiled = combine(this.parts);
    this.under = new WeakMap();
  }

  private own(agent: string, guardrails: Guardrails): PolicyParts {
    let parts = this.read.get(guardrails);
    if (!parts) {
      // How often tools are called is limited for all agents together.
      parts = readParts({ source: `of agent "${agent}"`, policy: { ...guardrails, rateLimits: [] } });
      this.read.set(guardrails, parts);
    }
    return parts;
  }
}
