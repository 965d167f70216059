import type { JsonSchema } from '../../kernel/json/index.js';
import type { ContentRules } from '../../security/content/index.js';

/** Handling of a call that waits by the rule of three facts. */
export type TaintMode = 'off' | 'approval' | 'deny';

/** `facts`: a call waits if its run is untrusted and private and the call goes out. `strict`: without "private". */
export type TaintRule = 'facts' | 'strict';

/**
 * Restricts tools for calls that match all given conditions: agents, tenants, principals (ids), principals with one of
 * the roles. In all names `*` matches any characters.
 */
export interface ToolRule {
  readonly agents?: readonly string[];
  readonly tenants?: readonly string[];
  readonly principals?: readonly string[];
  readonly roles?: readonly string[];
  /** The only allowed tools; if several rules apply, those that all of them allow. */
  readonly allow?: readonly string[];
  /** Denied tools; takes precedence over every `allow`. */
  readonly deny?: readonly string[];
}

/** Restrictions of one agent in addition to the security policy. Plain data, since definitions are stored. */
export interface Guardrails {
  readonly tools?: readonly Omit<ToolRule, 'agents'>[];
  /** JSON Schema of the arguments, keyed by tool (`*` matches any characters). */
  readonly arguments?: Readonly<Record<string, JsonSchema>>;
  /** Content that is masked or blocked in its inputs, tool results and answers. */
  readonly content?: ContentRules;
  readonly taint?: Exclude<TaintMode, 'off'>;
  readonly taintRule?: TaintRule;
  /** Whether links and images are removed from its answers in runs with untrusted content. */
  readonly stripLinks?: true;
}

/** The rules of a call by one agent; they apply in addition to the general ones. */
export interface AgentRules {
  /** Name of the agent, for messages. */
  readonly agent: string;
  readonly guardrails: Guardrails | null;
  /** Whether every call of a tool needs approval, whatever the tool itself declares. */
  readonly needsApproval: ((tool: string) => boolean) | null;
}
