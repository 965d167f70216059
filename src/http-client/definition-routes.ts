import type {
  Agent,
  AgentList,
  RunAnswer,
  Tool,
  ToolCallAnswer,
  ToolCallRequest,
  ToolList,
  Workflow,
  WorkflowList,
  WorkflowRunRequest,
} from './generated/operations.js';
import type { CreateOptions, HttpTransport, RequestOptions } from './http-transport.js';

/** Agents for the member `agent` of a request. */
export class AgentRoutes {
  constructor(private readonly transport: HttpTransport) {}

  /** All agents that the caller may use. */
  list(options?: RequestOptions): Promise<AgentList> {
    return this.transport.call('listAgents', {}, options);
  }

  /** One agent. */
  get(name: string, options?: RequestOptions): Promise<Agent> {
    return this.transport.call('getAgent', { path: { name } }, options);
  }
}

/** Tools and their calls without an agent. */
export class ToolRoutes {
  constructor(private readonly transport: HttpTransport) {}

  /** All tools that the caller may use. */
  list(options?: RequestOptions): Promise<ToolList> {
    return this.transport.call('listTools', {}, options);
  }

  /** One tool. */
  get(name: string, options?: RequestOptions): Promise<Tool> {
    return this.transport.call('getTool', { path: { name } }, options);
  }

  /** Calls a tool as a run of its own. With the status `waiting` the call needs a decision. */
  call(name: string, request?: ToolCallRequest, options?: CreateOptions): Promise<ToolCallAnswer> {
    return this.transport.call('callTool', { path: { name }, ...(request && { body: request }) }, options);
  }
}

/** Workflows and their runs. */
export class WorkflowRoutes {
  constructor(private readonly transport: HttpTransport) {}

  /** All workflows that the caller may start. */
  list(options?: RequestOptions): Promise<WorkflowList> {
    return this.transport.call('listWorkflows', {}, options);
  }

  /** One workflow, with its graph. */
  get(name: string, options?: RequestOptions): Promise<Workflow> {
    return this.transport.call('getWorkflow', { path: { name } }, options);
  }

  /** Starts a workflow; with `wait: true` the answer has its outcome. */
  start(name: string, request?: WorkflowRunRequest, options?: CreateOptions): Promise<RunAnswer> {
    return this.transport.call('startWorkflow', { path: { name }, ...(request && { body: request }) }, options);
  }
}
