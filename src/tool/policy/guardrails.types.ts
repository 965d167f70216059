import type { JsonSchema } from '../../common/index.js';
import type { ContentRules } from '../../security/index.js';

/** Handling of calls that can send data out, in a run that has read untrusted content. */
export type TaintMode = 'off' | 'approval' | 'deny';

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
}
