import type { INestApplicationContext, Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import {
  AgentDecisionService,
  AgentRegistry,
  AgentService,
  type Approval,
  asSchemaOutput,
  type AgentDefinition,
  type Denial,
  DirectCallService,
  type Extension,
  type GivenFormat,
  type Input,
  type RunAnswer,
  type Settlement,
  toCallValue,
  UserErasureService,
} from '../agent/index.js';
import { type ChatOptions, type ChatReply, type ChatStreamOptions, toReply } from './agent-reply.mapper.js';
import { AgentSession } from './agent-session.client.js';
import { AgentSessions } from './agent-sessions.client.js';
import { openChatStream } from './chat-stream.js';
import { AppError } from '../errors/index.js';
import { type JsonValue, type Principal } from '../kernel/index.js';
import { ExtensionLoader } from '../extension/index.js';
import { McpRegistry, type McpServerConfig, McpServerService } from '../mcp/index.js';
import { type RunEvent, type RunFile, RunFileService, RunService } from '../run/index.js';
import {
  assertSessionId,
  type Memory,
  MemoryFactory,
  type MemoryRules,
  SessionAdminService,
  type SessionOptions,
  SessionService,
} from '../session/index.js';
import { SecurityPolicies, type SecurityPolicy } from '../tool-policy/index.js';
import { type StatefulToolSession, StatefulToolSessions } from '../tool-state/index.js';
import { type Tool, ToolExplorer, type ToolRegistration, ToolRegistry } from '../tool/index.js';
import { type WorkflowInput, WorkflowRegistry, WorkflowService, type WorkflowStart } from '../workflow/index.js';

/** An agent without HTTP, with the same services and the same journal as the server. Call `close` at the end. */
export class Agent {
  private closing: Promise<void> | null = null;
  /** The agent's sessions. */
  readonly sessions: AgentSessions;

  constructor(
    private readonly application: INestApplicationContext,
    private readonly principal: Principal,
    /** Format of the answers, as given to `createAgent`. */
    private readonly responseFormat?: GivenFormat,
  ) {
    this.sessions = new AgentSessions(principal, {
      sessions: application.get(SessionService, { strict: false }),
      admin: application.get(SessionAdminService, { strict: false }),
      users: application.get(UserErasureService, { strict: false }),
    });
  }

  /**
   * Sends a message and waits until the run has ended or waits for a person. `waiting` then contains the pending decisions.
   * @throws AppError with the failure's code if the run fails; `OUTPUT_INVALID` also if a Standard Schema's validator rejects valid
   *   JSON; `VALIDATION_FAILED` for a blank message
   */
  async chat(query: string, options: ChatOptions = {}): Promise<ChatReply> {
    const answer = await this.agents.chat(this.principal, { query, ...options });
    return this.toReply(answer, options.responseFormat);
  }

  /**
   * Runs a workflow and waits until it has ended or waits for a person. The workflow need not use this agent.
   * @param workflow name of a registered workflow, or a definition for this run only, such as a `WorkflowBuilder` builds
   * @param options `sessionId` is the session for the memory of its agents
   * @throws AppError `WORKFLOW_NOT_FOUND`, `WORKFLOW_INVALID`, `VALIDATION_FAILED`; a failed run is returned, not thrown
   */
  runWorkflow(
    workflow: string | WorkflowInput,
    input: Readonly<Record<string, unknown>> = {},
    options: Pick<WorkflowStart, 'sessionId'> = {},
  ): Promise<RunAnswer> {
    const name =
      typeof workflow === 'string' ? workflow : this.context.get(WorkflowRegistry, { strict: false }).define(workflow);
    const workflows = this.context.get(WorkflowService, { strict: false });
    return workflows.run(this.principal, name, { ...options, input });
  }

  /**
   * Sends a message and yields the text of the run in pieces: the text of replies with tool calls, then the answer. The joined pieces
   * never repeat text: when a reply starts again, only undelivered text is yielded. An answer with a format is yielded alone, once it
   * is accepted. Leaving the iterator (`break`, `return`, `throw`) cancels the run, and no tool is called after that, unless `onLeave`
   * is `continue`.
   * @throws StreamRestartedError if a reply starts again with other text than the delivered text; the run completes
   * @throws AppError as `chat`; `RUN_WAITING` with `details.run_id` if a person must decide
   */
  chatStream(query: string, options: ChatStreamOptions = {}): AsyncGenerator<string, void> {
    const format = options.responseFormat ?? this.responseFormat;
    return openChatStream(() => this.agents, this.runs, this.principal, { query, ...options }, format);
  }

  /**
   * Sends a message and passes the run's events, including message deltas, to the callback. Resolves when the run has ended or waits. A
   * failed run is reported as `run.failed`; only errors before its start are thrown.
   */
  async stream(query: string, callback: (event: RunEvent) => void, options: ChatOptions = {}): Promise<void> {
    const { items } = await this.agents.stream(this.principal, { query, ...options }, new AbortController().signal);
    for await (const { event } of items) callback(event);
  }

  /** Approves pending calls of a run, and waits for the outcome. @throws AppError as `chat`; `RUN_NOT_WAITING` */
  async approve(runId: string, approval: Approval = {}): Promise<ChatReply> {
    await this.decisions.approve(this.principal, runId, approval);
    return this.outcome(runId);
  }

  /** Denies pending calls or pending questions of tools, and waits for the outcome. @throws AppError as `approve` */
  async deny(runId: string, denial: Denial = {}): Promise<ChatReply> {
    await this.decisions.deny(this.principal, runId, denial);
    return this.outcome(runId);
  }

  /** Answers the question of a tool, and waits for the outcome. @throws AppError as `approve` */
  async input(runId: string, answer: Input): Promise<ChatReply> {
    await this.decisions.input(this.principal, runId, answer);
    return this.outcome(runId);
  }

  /** Settles a call whose outcome is unknown after a crash, and waits for the outcome of the run. @throws AppError as `approve` */
  async settle(runId: string, settlement: Settlement): Promise<ChatReply> {
    await this.decisions.settle(this.principal, runId, settlement);
    return this.outcome(runId);
  }

  /**
   * The answer of a run, once it has ended or waits for a person; also after the end of its text stream.
   * @throws AppError as `chat`; `RUN_NOT_FOUND`
   */
  async outcome(runId: string): Promise<ChatReply> {
    return this.toReply(await this.agents.outcome(this.principal, runId));
  }

  /** File `n` of a run, to which a tool result refers as `[file n: …]`. @throws AppError `NOT_FOUND`, `RUN_NOT_FOUND`, `RUN_PRUNED` */
  file(runId: string, n: number): Promise<RunFile> {
    return this.context.get(RunFileService, { strict: false }).get(this.principal, runId, n);
  }

  /** A session by its id; the first message creates it if it does not exist. @throws AppError `VALIDATION_FAILED` */
  session(id: string): AgentSession {
    assertSessionId(id);
    return new AgentSession(id, this);
  }

  /** Creates a session. @throws AppError `SESSION_EXISTS`, `VALIDATION_FAILED` */
  async createSession(options: SessionOptions = {}): Promise<AgentSession> {
    return new AgentSession((await this.sessions.create(options)).id, this);
  }

  /**
   * Creates a conversation memory for a program that calls a model itself.
   * @param rules changes to the agent's memory rules @throws AppError `MEMORY_POLICY_INVALID`
   */
  createMemory(rules: Partial<MemoryRules> = {}): Promise<Memory> {
    const { memory } = this.getConfig();
    return this.context.get(MemoryFactory, { strict: false }).create(this.principal, { ...memory, ...rules });
  }

  /**
   * Calls a tool as a run of its own, as `POST /api/tools/:name/call`: with policies, approvals and a journal.
   * @param sessionId an existing session (`sessions.create`): a stateful tool reads and writes its state there
   * @throws AppError with the call's code if it failed or was refused; `RUN_WAITING` with `details.run_id` while a person must decide
   */
  async executeTool(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    sessionId?: string,
  ): Promise<JsonValue> {
    const request = { arguments: args, ...(sessionId !== undefined && { sessionId }) };
    return toCallValue(
      await this.context.get(DirectCallService, { strict: false }).call(this.principal, name, request),
    );
  }

  /** An alias of `executeTool`. @throws AppError as `executeTool` */
  callTool(name: string, args?: Readonly<Record<string, unknown>>, sessionId?: string): Promise<JsonValue> {
    return this.executeTool(name, args, sessionId);
  }

  /**
   * Adds a tool; it applies from the next message, if the agent has all tools or lists its name. @throws AppError `TOOL_DUPLICATE`,
   * `TOOL_INVALID`
   */
  registerTool(tool: Tool | ToolRegistration): this {
    this.tools.register(tool);
    return this;
  }

  /**
   * Adds the `@Tool` methods of an object, or of a class, which Nest instantiates: all of them, or none.
   * @returns their names @throws AppError `TOOL_DUPLICATE`; `TOOL_INVALID`, also for an object without such a method
   */
  async registerToolsFromClass(provider: Type | object): Promise<readonly string[]> {
    const made =
      typeof provider === 'function' ? await this.context.get(ModuleRef).create(provider as Type<object>) : provider;
    return this.context.get(ToolExplorer, { strict: false }).register(made);
  }

  hasTool(name: string): boolean {
    return this.tools.has(name);
  }

  /** @throws AppError `TOOL_NOT_FOUND` */
  getTool(name: string): Tool {
    return this.tools.get(name);
  }

  /**
   * Connects to an MCP server. From the next message its tools are available as `name__tool`.
   * @throws AppError `MCP_SERVER_INVALID`, `MCP_SERVER_DUPLICATE`; McpError if the connection fails: the server is then removed
   */
  async connectMcpServer(name: string, config: McpServerConfig): Promise<this> {
    await this.context.get(McpServerService, { strict: false }).connect(name, config);
    return this;
  }

  hasMcpServer(name: string): boolean {
    return this.context.get(McpRegistry, { strict: false }).has(name);
  }

  /** The agent's definition, with all defaults. */
  getConfig(): AgentDefinition {
    return this.context.get(AgentRegistry, { strict: false }).get().definition;
  }

  /**
   * Binds a stateful tool to a session, for direct use by code. Its calls are not runs; the caller is responsible for them.
   * @param sessionId valid id of a session @throws AppError `TOOL_NOT_FOUND`, `TOOL_STATE_NOT_FOUND`, `VALIDATION_FAILED`
   */
  createStatefulToolSession(name: string, sessionId: string): StatefulToolSession {
    return this.context
      .get(StatefulToolSessions, { strict: false })
      .create(name, sessionId, { principal: this.principal });
  }

  /**
   * Adds an extension while the agent runs. It registers and boots at once, and applies from the next message. If it fails, its tools,
   * agents and listeners are removed; policies, processors and providers stay.
   * @throws AppError `EXTENSION_INVALID`
   */
  async use(extension: Extension): Promise<this> {
    await this.context.get(ExtensionLoader, { strict: false }).use(extension);
    return this;
  }

  /**
   * Replaces the security policy given at creation; earlier decisions of runs stay.
   * @throws AppError `CONFIG_INVALID` with every mistake; the policy is then unchanged
   */
  setSecurityPolicy(policy: SecurityPolicy): Promise<void> {
    return this.context.get(SecurityPolicies, { strict: false }).set(policy);
  }

  /**
   * Waits for executing runs, then closes the database. Runs that do not end in time resume at the next start. Every call returns the
   * same promise.
   */
  close(): Promise<void> {
    this.closing ??= this.application.close();
    return this.closing;
  }

  /** @throws AppError `SHUTTING_DOWN` after `close` */
  private get context(): INestApplicationContext {
    if (!this.closing) return this.application;
    throw new AppError('SHUTTING_DOWN', 'The agent is closed: create another one with createAgent().');
  }

  private get agents(): AgentService {
    return this.context.get(AgentService, { strict: false });
  }

  private get decisions(): AgentDecisionService {
    return this.context.get(AgentDecisionService, { strict: false });
  }

  /** Available also during `close`. */
  private get runs(): RunService {
    return this.application.get(RunService, { strict: false });
  }

  private get tools(): ToolRegistry {
    return this.context.get(ToolRegistry, { strict: false });
  }

  private async toReply(answer: RunAnswer, format = this.responseFormat): Promise<ChatReply> {
    const reply = toReply(answer);
    return 'output' in reply ? { ...reply, output: await asSchemaOutput(format, reply.output) } : reply;
  }
}
