import type { JsonSchema } from '../../common/index.js';
import type { ContentRules } from '../../security/index.js';

/** What becomes of a call that can carry data out, in a run that has read what strangers wrote. */
export type TaintMode = 'off' | 'approval' | 'deny';

/**
 * Which tools may be called where all that is given here holds: by these agents, for these tenants, by these principals
 * (ids), by principals with one of these roles. In all names `*` stands for any characters.
 */
export interface ToolRule {
  readonly agents?: readonly string[];
  readonly tenants?: readonly string[];
  readonly principals?: readonly string[];
  readonly roles?: readonly string[];
  /** No tools but these; where several rules hold, those that all of them allow. */
  readonly allow?: readonly string[];
  /** Not these, whoever allows them. */
  readonly deny?: readonly string[];
}

/** What one agent may not do, beside what the security policy says: as data, since definitions are stored. */
export interface Guardrails {
  readonly tools?: readonly Omit<ToolRule, 'agents'>[];
  /** By tool (`*` for any characters): a JSON Schema that the arguments hold to. */
  readonly arguments?: Readonly<Record<string, JsonSchema>>;
  /** What is masked or stopped in what it is asked, its tools give, and it says. */
  readonly content?: ContentRules;
  readonly taint?: Exclude<TaintMode, 'off'>;
}
