import type { ChatAnswer, ChatRequest, Operations, UsagePage, WaitingPage } from './generated/operations.js';
import { HttpTransport, type CreateOptions, type JackdawClientOptions, type RequestOptions } from './http-transport.js';
import { AgentRoutes, ToolRoutes, WorkflowRoutes } from './definition-routes.js';
import { EvalRoutes, KeyRoutes, McpRoutes } from './operation-routes.js';
import { RunRoutes } from './run-routes.js';
import { RunStream, type ChatStreamOptions } from './run-stream.js';
import { SessionRoutes } from './session-routes.js';

/**
 * A client of the REST API. All methods reject with a `JackdawError`, or with the reason of an aborted signal.
 *
 *     const jackdaw = new JackdawClient({ baseUrl: 'http://localhost:3000' });
 *     const { result } = await jackdaw.chat({ query: 'What is 6 * 7?' });
 */
export class JackdawClient {
  readonly runs: RunRoutes;
  readonly sessions: SessionRoutes;
  readonly agents: AgentRoutes;
  readonly tools: ToolRoutes;
  readonly workflows: WorkflowRoutes;
  readonly evals: EvalRoutes;
  readonly mcp: McpRoutes;
  readonly keys: KeyRoutes;
  private readonly transport: HttpTransport;

  constructor(options: JackdawClientOptions) {
    this.transport = new HttpTransport(options);
    this.runs = new RunRoutes(this.transport);
    this.sessions = new SessionRoutes(this.transport);
    this.agents = new AgentRoutes(this.transport);
    this.tools = new ToolRoutes(this.transport);
    this.workflows = new WorkflowRoutes(this.transport);
    this.evals = new EvalRoutes(this.transport);
    this.mcp = new McpRoutes(this.transport);
    this.keys = new KeyRoutes(this.transport);
  }

  /**
   * Sends a message to an agent and waits for the answer. With the status `waiting` the run needs a decision.
   * @throws JackdawError with the code of the failure if the run fails
   */
  chat(request: ChatRequest, options?: CreateOptions): Promise<ChatAnswer> {
    return this.transport.call('chat', { body: request }, options);
  }

  /**
   * Sends a message to an agent and streams the events of its run. The request is sent by the first iteration, or by
   * `answer()`; it starts one run, also if the connection is lost.
   */
  stream(request: ChatRequest, { idempotencyKey, ...options }: ChatStreamOptions = {}): RunStream {
    return new RunStream(this.transport, { body: request, ...(idempotencyKey && { idempotencyKey }) }, options);
  }

  /** A page of the requests that wait for a person, with the oldest run first. */
  waiting(query?: Operations['listWaiting']['query'], options?: RequestOptions): Promise<WaitingPage> {
    return this.transport.call('listWaiting', { ...(query && { query }) }, options);
  }
  /** Tokens and costs of model calls, by day, session, agent or model. */
  usage(query?: Operations['getUsage']['query'], options?: RequestOptions): Promise<UsagePage> {
    return this.transport.call('getUsage', { ...(query && { query }) }, options);
  }
}
