import { Injectable } from '@nestjs/common';
import { messageOf } from '../errors/index.js';
import { readText } from '../kernel/json/index.js';
import { admit, type ContentFilter, type ContentPlace } from '../security/content/index.js';
import { type AgentRules, type Guardrails, type TaintRule, ToolLogFilter } from '../tool/decision/index.js';
import { combine, type CompiledPolicy, type PolicyParts, readParts } from './compiled-policy.factory.js';
import {
  parsePolicy,
  policyCodeSchema,
  policyFileSchema,
  policyInvalid,
  type SecurityPolicy,
} from './security-policy.schema.js';

/** Reads a policy from a JSON file. @throws AppError `CONFIG_INVALID` that names the file and all mistakes with their paths */
export function loadPolicy(path: string): SecurityPolicy {
  let given: unknown;
  try {
    given = JSON.parse(readText(path));
  } catch (error) {
    throw policyInvalid(path, [`cannot be read as JSON (SECURITY_POLICY_FILE): ${messageOf(error)}`], error);
  }
  return parsePolicy(given, policyFileSchema, path);
}

const CODE = 'securityPolicy';

/** The security policies in force: that of SECURITY_POLICY_FILE and that given in code, combined. */
@Injectable()
export class SecurityPolicies extends ToolLogFilter {
  private parts: readonly PolicyParts[] = [];
  /** Without a policy only the rule of three facts applies. */
  private compiled: CompiledPolicy;
  private file: PolicyParts | null = null;
  /** Combined policies of agents with guardrails, cached until a policy changes. */
  private under = new WeakMap<Guardrails, CompiledPolicy>();
  /** The content rules of agents that have run, by their JSON: the log has lines of every agent. */
  private readonly agents = new Map<string, PolicyParts>();
  private commonFilter: ContentFilter | null | undefined;
  /** Parsed guardrails, so that their schemas are compiled once. */
  private readonly read = new WeakMap<Guardrails, PolicyParts>();

  /** @param rule when calls wait by the rule of three facts, unless a policy is stricter */
  constructor(private readonly rule: TaintRule = 'facts') {
    super();
    this.compiled = combine([], rule);
  }

  /**
   * @param path path of the policy file, if configured
   * @throws AppError `CONFIG_INVALID` that lists all mistakes of a policy with their paths
   */
  static async open(path?: string, given?: SecurityPolicy, rule?: TaintRule): Promise<SecurityPolicies> {
    const policies = new SecurityPolicies(rule);
    if (path !== undefined) policies.file = readParts({ source: path, policy: loadPolicy(path) });
    await policies.set(given);
    return policies;
  }

  /** The combined policy for all agents. */
  get current(): CompiledPolicy {
    return this.compiled;
  }

  /** The combined policy for an agent: its own rules only add to the general ones. */
  for(rules: AgentRules | undefined): CompiledPolicy {
    if (!rules?.guardrails) return this.compiled;
    let compiled = this.under.get(rules.guardrails);
    if (!compiled) {
      compiled = combine([...this.parts, this.own(rules.agent, rules.guardrails)], this.rule);
      this.under.set(rules.guardrails, compiled);
    }
    return compiled;
  }

  /** The content filter of a place; `null` without rules. */
  filter(place: ContentPlace, rules?: AgentRules): ContentFilter | null {
    return this.for(rules).filters[place];
  }

  /** The content filter of the output. @param isTainted whether the run contains untrusted content */
  outputFilter(rules: AgentRules | undefined, isTainted: boolean): ContentFilter | null {
    const { filters, taintedOutput } = this.for(rules);
    return isTainted ? taintedOutput : filters.output;
  }

  /**
   * Masks a text by the content rules of the policy, for text that passes outside of runs.
   * @param place whose rules apply; default those of answers
   * @throws AppError `INPUT_BLOCKED` naming the kinds of the findings, never their content
   */
  filterContent(text: string, place: ContentPlace = 'output'): string {
    return admit(this.filter(place), text, 'text').value;
  }

  override logFilter(rules: AgentRules | undefined): ContentFilter | null {
    return this.for(rules).log;
  }

  /** Masks in the log all that is masked or blocked anywhere; `null` without such content. */
  get log(): ContentFilter | null {
    if (this.commonFilter === undefined) this.commonFilter = combine([...this.parts, ...this.agents.values()]).log;
    return this.commonFilter;
  }

  /**
   * Replaces the policy given in code; that of the file stays. Recorded decisions of runs do not change.
   * @throws AppError `CONFIG_INVALID` that lists all mistakes; the policy is unchanged then
   */
  async set(given?: SecurityPolicy): Promise<void> {
    const code = given && readParts({ source: CODE, policy: parsePolicy(given, policyCodeSchema, CODE) });
    this.parts = [this.file, code].filter((one) => one !== null && one !== undefined);
    this.compiled = combine(this.parts, this.rule);
    this.under = new WeakMap();
    this.commonFilter = undefined;
  }

  private own(agent: string, guardrails: Guardrails): PolicyParts {
    let parts = this.read.get(guardrails);
    if (!parts) {
      // Rate limits apply to all agents together.
      parts = readParts({ source: `of agent "${agent}"`, policy: { ...guardrails, rateLimits: [] } });
      this.read.set(guardrails, parts);
      if (guardrails.content) {
        this.agents.set(JSON.stringify(guardrails.content), parts);
        this.commonFilter = undefined;
      }
    }
    return parts;
  }
}
