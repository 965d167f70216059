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
} from './agent/index.js';
import { type ChatOptions, type ChatReply, type ChatStreamOptions, toReply } from './agent-reply.mapper.js';
import { AgentSession } from './agent-session.client.js';
import { AgentSessions } from './agent-sessions.client.js';
import { openChatStream } from './chat-stream.js';
import { AppError, type JsonValue, type Principal } from './common/index.js';
import { ExtensionLoader } from './extension/index.js';
import { McpRegistry, type McpServerConfig, McpServerService } from './mcp/index.js';
import { type RunEvent, RunService } from './run/index.js';
import {
  assertSessionId,
  type Memory,
  MemoryFactory,
  type MemoryRules,
  SessionKeeper,
  type SessionOptions,
  SessionService,
} from './session/index.js';
import {
  SecurityPolicies,
  type SecurityPolicy,
  type StatefulToolSession,
  StatefulToolSessions,
  type Tool,
  ToolExplorer,
  type ToolRegistration,
  ToolRegistry,
} from './tool/index.js';
import { type WorkflowInput, WorkflowRegistry, WorkflowService, type WorkflowStart } from './workflow/index.js';

/** An agent without HTTP, over the same services and the same journal as the server. Close it when done. */
export class Agent {
  private closing: Promise<void> | null = null;
  /** What was said to it, and what people may do with that. */
  readonly sessions: AgentSessions;

  constructor(
    private readonly application: INestApplicationContext,
    private readonly principal: Principal,
    /** What its answers are, as it was given. */
    private readonly responseFormat?: GivenFormat,
  ) {
    this.sessions = new AgentSessions(principal, {
      sessions: application.get(SessionService, { strict: false }),
      keeper: application.get(SessionKeeper, { strict: false }),
      users: application.get(UserErasureService, { strict: false }),
    });
  }

  /**
   * Asks and waits for the answer, or for the person that the run waits for: its `waiting` says what is to be decided then.
   * @throws AppError with the failure's code when the run fails, `OUTPUT_INVALID` also when a Standard Schema's own validator
   *   refuses what fits as JSON; `VALIDATION_FAILED` for a message that says nothing
   */
  async chat(query: string, options: ChatOptions = {}): Promise<ChatReply> {
    const answer = await this.agents.chat(this.principal, { query, ...options });
    return this.toReply(answer, options.responseFormat);
  }

  /**
   * Runs a workflow and waits until it has ended, or waits for a person. It need not have to do with this agent.
   * @param workflow the name of one that there is, or one for once: a `WorkflowBuilder` builds it
   * @param options `sessionId` is where its agents remember what they were asked
   * @throws AppError `WORKFLOW_NOT_FOUND`, `WORKFLOW_INVALID`, `VALIDATION_FAILED`; a run that fails is an answer
   */
  runWorkflow(
    workflow: string | WorkflowInput,
    input: Readonly<Record<string, unknown>> = {},
    options: Pick<WorkflowStart, 'sessionId'> = {},
  ): Promise<RunAnswer> {
    const given =
      typeof workflow === 'string' ? workflow : this.context.get(WorkflowRegistry, { strict: false }).define(workflow);
    const workflows = this.context.get(WorkflowService, { strict: false });
    return workflows.run(this.principal, given, { ...options, input });
  }

  /**
   * Asks, and yields the text of the run in pieces: the text of replies with tool calls, then the answer. The joined pieces
   * never repeat text: when a reply starts again, only the text that was not delivered yet is yielded. An answer that has a
   * format is yielded once it is accepted, and alone. Leaving the iterator (`break`, `return`, `throw`) cancels the run, and no
   * tool is called after that, unless `onLeave` is `continue`.
   * @throws StreamRestartedError when a reply starts again with other text than was delivered; the run completes
   * @throws AppError as `chat`; `RUN_WAITING` with `details.run_id` when a person must decide
   */
  chatStream(query: string, options: ChatStreamOptions = {}): AsyncGenerator<string, void> {
    const format = options.responseFormat ?? this.responseFormat;
    return openChatStream(() => this.agents, this.runs, this.principal, { query, ...options }, format);
  }

  /**
   * Asks and tells what happens, message deltas included; resolves when the run has ended or waits. A run that fails is
   * told too, as `run.failed`; only what prevents it from beginning is thrown.
   */
  async stream(query: string, callback: (event: RunEvent) => void, options: ChatOptions = {}): Promise<void> {
    const { items } = await this.agents.stream(this.principal, { query, ...options }, new AbortController().signal);
    for await (const { event } of items) callback(event);
  }

  /** Lets calls be made that a run waits with, and waits for what comes of it. @throws AppError as `chat`; `RUN_NOT_WAITING` */
  async approve(runId: string, approval: Approval = {}): Promise<ChatReply> {
    await this.decisions.approve(this.principal, runId, approval);
    return this.outcome(runId);
  }

  /** Says no to calls, or to what their tools ask, and waits for what comes of it. @throws AppError as `approve` */
  async deny(runId: string, denial: Denial = {}): Promise<ChatReply> {
    await this.decisions.deny(this.principal, runId, denial);
    return this.outcome(runId);
  }

  /** Answers the question of a tool, and waits for what comes of it. @throws AppError as `approve` */
  async input(runId: string, answer: Input): Promise<ChatReply> {
    await this.decisions.input(this.principal, runId, answer);
    return this.outcome(runId);
  }

  /** Says what became of a call that a crash cut off, and waits for what comes of it. @throws AppError as `approve` */
  async settle(runId: string, settlement: Settlement): Promise<ChatReply> {
    await this.decisions.settle(this.principal, runId, settlement);
    return this.outcome(runId);
  }

  /**
   * The answer of a run, once it has ended or waits for a person; also of one whose stream of text has ended early.
   * @throws AppError as `chat`; `RUN_NOT_FOUND`
   */
  async outcome(runId: string): Promise<ChatReply> {
    return this.toReply(await this.agents.outcome(this.principal, runId));
  }

  /** A conversation by its id; the first message begins one that is not there yet. @throws AppError `VALIDATION_FAILED` */
  session(id: string): AgentSession {
    assertSessionId(id);
    return new AgentSession(id, this);
  }

  /** Begins a conversation. @throws AppError `SESSION_EXISTS`, `VALIDATION_FAILED` */
  async createSession(options: SessionOptions = {}): Promise<AgentSession> {
    return new AgentSession((await this.sessions.create(options)).id, this);
  }

  /**
   * A conversation in hand, for a program that talks to a model by itself.
   * @param rules where they differ from the agent's @throws AppError `MEMORY_POLICY_INVALID`
   */
  createMemory(rules: Partial<MemoryRules> = {}): Promise<Memory> {
    const { memory } = this.getConfig();
    return this.context.get(MemoryFactory, { strict: false }).create(this.principal, { ...memory, ...rules });
  }

  /**
   * Calls a tool as a run of its own, as `POST /api/tools/:name/call`: through policies and approvals, in its journal.
   * @param sessionId one that is there (`sessions.create`): a stateful tool finds in it what it left there
   * @throws AppError with the call's code when it failed or was not made, `RUN_WAITING` while a person must decide, with
   *   `details.run_id`
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

  /** The same, as other systems name it. @throws AppError as `executeTool` */
  callTool(name: string, args?: Readonly<Record<string, unknown>>, sessionId?: string): Promise<JsonValue> {
    return this.executeTool(name, args, sessionId);
  }

  /** Adds a tool; the next question has it, if the agent has all tools or one of its name. @throws AppError `TOOL_DUPLICATE`, `TOOL_INVALID` */
  registerTool(tool: Tool | ToolRegistration): this {
    this.tools.register(tool);
    return this;
  }

  /**
   * Adds the `@Tool` methods of an object, or of a class, which Nest makes: all of them, or none.
   * @returns their names @throws AppError `TOOL_DUPLICATE`, `TOOL_INVALID`, also for one without such a method
   */
  async registerToolsFromClass(given: Type | object): Promise<readonly string[]> {
    const made = typeof given === 'function' ? await this.context.get(ModuleRef).create(given as Type<object>) : given;
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
   * Connects to an MCP server, whose tools the next question has as `name__tool`.
   * @throws AppError `MCP_SERVER_INVALID`, `MCP_SERVER_DUPLICATE`; McpError when it cannot be connected to: it is forgotten then
   */
  async connectMcpServer(name: string, config: McpServerConfig): Promise<this> {
    await this.context.get(McpServerService, { strict: false }).connect(name, config);
    return this;
  }

  hasMcpServer(name: string): boolean {
    return this.context.get(McpRegistry, { strict: false }).has(name);
  }

  /** What it is, with every default filled in. */
  getConfig(): AgentDefinition {
    return this.context.get(AgentRegistry, { strict: false }).get().definition;
  }

  /**
   * A stateful tool bound to a session, for code that uses it by itself: its calls are no runs, and you answer for them.
   * @param sessionId any of 1 to 128 of `A-Z a-z 0-9 _ -` @throws AppError `TOOL_NOT_FOUND`, `TOOL_STATE_NOT_FOUND`, `VALIDATION_FAILED`
   */
  createStatefulToolSession(name: string, sessionId: string): StatefulToolSession {
    return this.context
      .get(StatefulToolSessions, { strict: false })
      .create(name, sessionId, { principal: this.principal });
  }

  /**
   * Adds an extension while the agent runs: it registers and boots at once, and the next question has what it brings. When it fails,
   * its tools, agents and listeners are taken back; policies, processors and providers stay.
   * @throws AppError `EXTENSION_INVALID`
   */
  async use(extension: Extension): Promise<this> {
    await this.context.get(ExtensionLoader, { strict: false }).use(extension);
    return this;
  }

  /**
   * Puts a policy in the place of the one that it was made with; what runs have decided stays.
   * @throws AppError `CONFIG_INVALID` with every mistake; nothing changes then
   */
  setSecurityPolicy(policy: SecurityPolicy): Promise<void> {
    return this.context.get(SecurityPolicies, { strict: false }).set(policy);
  }

  /**
   * Waits for what runs, then gives the database back. Runs that do not end in time are resumed at the next start. Every call returns
   * the same promise.
   */
  close(): Promise<void> {
    this.closing ??= this.application.close();
    return this.closing;
  }

  /** @throws AppError `SHUTTING_DOWN` once the agent is closed */
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

  /** Also while the agent is being closed. */
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
