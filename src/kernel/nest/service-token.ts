/** Services of Jackdaw that a provider can inject by a token. */
export type ServiceName =
  'AgentService' | 'RunService' | 'RunHistoryService' | 'SessionService' | 'ToolStateService' | 'WorkflowService';

/**
 * The token of a service, for providers that import `jackdaw/tool`, which loads no service:
 * `@Inject(serviceToken('AgentService')) private readonly agents: AgentService`, with
 * `import type { AgentService } from 'jackdaw'`.
 */
export function serviceToken(name: ServiceName): symbol {
  return Symbol.for(`jackdaw:${name}`);
}
