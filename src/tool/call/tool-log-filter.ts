import type { ContentFilter } from '../../security/index.js';
import type { AgentRules } from '../decision/agent-rules.types.js';

/** Port to the rules for log lines about calls, such as masked secrets. */
export abstract class ToolLogFilter {
  /** Filter for a call under these rules; `null`: lines stay unchanged. */
  abstract logFilter(rules: AgentRules | undefined): ContentFilter | null;
}
