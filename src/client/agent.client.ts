import type { Type } from '@nestjs/common';
import { type Extension, toCallValue } from '../agent/index.js';
import { asSchemaOutput, type GivenFormat, type RunAnswer } from '../agent/answer/index.js';
import type { Approval, Denial, Input, Settlement } from '../agent/decision/index.js';
import type { AgentDefinition } from '../agent/definition/index.js';
import {
  type ChatOptions,
  type ChatReply,
  type ChatStreamOptions,
  IterationLimitError,
  toReply,
} from './agent-reply.mapper.js';
import { AgentEvents } from './agent-events.client.js';
import type { AgentApplication } from './agent-application.js';
import { AgentSession } from './agent-session.client.js';
import { AgentSessions } from './agent-sessions.client.js';
import { type ChatMessage, STREAM_OPTIONS, toRequest } from './chat-message.mapper.js';
import { openChatStream } from './chat-stream.js';
import { newId, type Principal } from '../kernel/index.js';
import type { JsonValue } from '../kernel/json/index.js';
import type { McpServerConfig } from '../mcp/index.js';
import type { RunEvent } from '../run/event/index.js';
import type { RunFile } from '../run/files/index.js';
import { assertSessionId, type SessionOptions } from '../session/index.js';
import type { Memory, MemoryRules } from '../session/memory/index.js';
import type { SecurityPolicy } from '../tool-policy/index.js';
import type { OwnedStates, StatefulToolSession } from '../tool-state/index.js';
import type { ToolRegistration } from '../tool/index.js';
import type { Tool } from '../tool/method/index.js';
import type { WorkflowInput, WorkflowStart } from '../workflow/index.js';

/** Behaviour of an agent that is not part of its definition. */
export interface AgentBehaviour {
  /** Format of the answers, as given to `createAgent`. */
  readonly responseFormat?: GivenFormat | undefined;
  /** Default `answer`. */
  readonly onIterationLimit?: 'answer' | 'throw' | undefined;
}

/** An agent without HTTP, with the same services and the same journal as the server. Call `close` at the end. */
export class Agent extends AgentEvents {
  /** The agent's sessions. */
  readonly sessions: AgentSessions;
  /** The session of calls without `sessionId` and `newSession`; the first one creates it. */
  readonly sessionId = newId();

  constructor(
    application: AgentApplication,
    private readonly principal: Principal,
    private readonly behaviour: AgentBehaviour = {},
  ) {
    super(application);
    const { sessions, sessionAdmin: admin, users, access } = application.services;
    this.sessions = new AgentSessions(principal, { sessions, admin, users, access });
  }

  /**
   * Sends a message and waits until the run has ended or waits for a person. `waiting` then contains the pending decisions. Without
   * `sessionId` the messages continue one session, one after the other: give each user a session, or `newSession: true`.
   * @throws IterationLimitError if the iteration limit ends the run and `onIterationLimit` is `throw`
   * @throws AppError with the failure's code if the run fails; `OUTPUT_INVALID` also if a Standard Schema's validator rejects valid
   *   JSON; `VALIDATION_FAILED` for a blank message
   */
  async chat(message: ChatMessage, options: ChatOptions = {}): Promise<ChatReply> {
    const answer = await this.services.agents.chat(this.principal, toRequest(message, options, this.sessionId));
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
    const name = typeof workflow === 'string' ? workflow : this.services.workflowRegistry.define(workflow);
    const workflows = this.services.workflows;
    return workflows.run(this.principal, name, { ...options, input });
  }

  /**
   * Sends a message and yields the text of the run in pieces: the text of replies with tool calls, then the answer. The joined pieces
   * never repeat text: when a reply starts again, only undelivered text is yielded. An answer with a format is yielded alone, once it
   * is accepted. Leaving the iterator (`break`, `return`, `throw`) cancels the run, and no tool is called after that, unless `onLeave`
   * is `continue`.
   * @throws StreamRestartedError if a reply starts again with other text than the delivered text; the run completes
   * @throws IterationLimitError with the reply, after its text, if the iteration limit ends the run
   * @throws AppError as `chat`; `RUN_WAITING` with `details.run_id` if a person must decide
   */
  chatStream(message: ChatMessage, options: ChatStreamOptions = {}): AsyncGenerator<string, void> {
    return openChatStream(
      () => this.services.agents,
      this.application.runs,
      this.principal,
      toRequest(message, options, this.sessionId, STREAM_OPTIONS),
      options.responseFormat ?? this.behaviour.responseFormat,
    );
  }

  /**
   * Sends a message and passes the run's events, including message deltas, to the callback. Resolves when the run has ended or waits. A
   * failed run is reported as `run.failed`; only errors before its start are thrown.
   */
  async stream(message: ChatMessage, callback: (event: RunEvent) => void, options: ChatOptions = {}): Promise<void> {
    const request = toRequest(message, options, this.sessionId);
    const { items } = await this.services.agents.stream(this.principal, request, new AbortController().signal);
    for await (const { event } of items) callback(event);
  }

  /** Approves pending calls of a run, and waits for the outcome. @throws AppError as `chat`; `RUN_NOT_WAITING` */
  approve(runId: string, approval: Approval = {}): Promise<ChatReply> {
    return this.services.decisions.approve(this.principal, runId, approval).then(() => this.outcome(runId));
  }

  /** Denies pending calls or pending questions of tools, and waits for the outcome. @throws AppError as `approve` */
  deny(runId: string, denial: Denial = {}): Promise<ChatReply> {
    return this.services.decisions.deny(this.principal, runId, denial).then(() => this.outcome(runId));
  }

  /** Answers the question of a tool, and waits for the outcome. @throws AppError as `approve` */
  input(runId: string, answer: Input): Promise<ChatReply> {
    return this.services.decisions.input(this.principal, runId, answer).then(() => this.outcome(runId));
  }

  /** Settles a call whose outcome is unknown after a crash, and waits for the outcome. @throws AppError as `approve` */
  settle(runId: string, settlement: Settlement): Promise<ChatReply> {
    return this.services.decisions.settle(this.principal, runId, settlement).then(() => this.outcome(runId));
  }

  /** Releases a run that waits in a copied or restored database, and waits for the outcome. @throws AppError as `approve` */
  release(runId: string): Promise<ChatReply> {
    return this.services.decisions.release(this.principal, runId).then(() => this.outcome(runId));
  }

  /**
   * The answer of a run, once it has ended or waits for a person; also after the end of its text stream.
   * @throws AppError as `chat`; `RUN_NOT_FOUND`
   */
  async outcome(runId: string): Promise<ChatReply> {
    const answer = await this.services.agents.outcome(this.principal, runId);
    this.services.access.record(this.principal, 'read', 'run', runId);
    return this.toReply(answer);
  }

  /** File `n` of a run, to which a tool result refers as `[file n: …]`. @throws AppError `NOT_FOUND`, `RUN_NOT_FOUND`, `RUN_PRUNED` */
  async file(runId: string, n: number): Promise<RunFile> {
    const file = await this.services.files.get(this.principal, runId, n);
    this.services.access.record(this.principal, 'read', 'run.file', runId);
    return file;
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
    return this.services.memories.create(this.principal, { ...memory, ...rules });
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
    const answer = await this.services.directCalls.call(this.principal, name, request);
    this.services.access.record(this.principal, 'call', 'tool', name);
    return toCallValue(answer);
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
    this.services.tools.register(tool);
    return this;
  }

  /**
   * Adds the `@Tool` methods of an object, or of a class, which Nest instantiates: all of them, or none.
   * @returns their names @throws AppError `TOOL_DUPLICATE`; `TOOL_INVALID`, also for an object without such a method
   */
  async registerToolsFromClass(provider: Type | object): Promise<readonly string[]> {
    const made =
      typeof provider === 'function' ? await this.services.modules.create(provider as Type<object>) : provider;
    return this.services.toolExplorer.register(made);
  }

  hasTool(name: string): boolean {
    return this.services.tools.has(name);
  }

  /** @throws AppError `TOOL_NOT_FOUND` */
  getTool(name: string): Tool {
    return this.services.tools.get(name);
  }

  /**
   * Connects to an MCP server. From the next message its tools are available as `name__tool`.
   * @throws AppError `MCP_SERVER_INVALID`, `MCP_SERVER_DUPLICATE`; McpError if the connection fails: the server is then removed
   */
  async connectMcpServer(name: string, config: McpServerConfig): Promise<this> {
    await this.services.mcp.connect(name, config);
    return this;
  }

  hasMcpServer(name: string): boolean {
    return this.services.mcpRegistry.has(name);
  }

  /** The agent's definition, with all defaults. */
  getConfig(): AgentDefinition {
    return this.services.registry.get().definition;
  }

  /**
   * Binds a stateful tool to a session, for direct use by code. Its calls are not runs; the caller is responsible for them.
   * @param sessionId valid id of a session @throws AppError `TOOL_NOT_FOUND`, `TOOL_STATE_NOT_FOUND`, `VALIDATION_FAILED`
   */
  createStatefulToolSession(name: string, sessionId: string): StatefulToolSession {
    return this.services.toolSessions.create(name, sessionId, { principal: this.principal });
  }

  /** The states of stateful tools in its principal's sessions. */
  get states(): OwnedStates {
    return this.services.toolStates.of(this.principal);
  }

  /**
   * Adds an extension while the agent runs. It registers and boots at once, and applies from the next message. If it fails, its tools,
   * agents and listeners are removed; policies, processors and providers stay.
   * @throws AppError `EXTENSION_INVALID`
   */
  async use(extension: Extension): Promise<this> {
    await this.services.extensions.use(extension);
    return this;
  }

  /**
   * Replaces the security policy given at creation; earlier decisions of runs stay.
   * @throws AppError `CONFIG_INVALID` with every mistake; the policy is then unchanged
   */
  setSecurityPolicy(policy: SecurityPolicy): Promise<void> {
    return this.services.policies.set(policy);
  }

  /**
   * Masks a text by the content rules of the security policy, as answers are masked.
   * @throws AppError `INPUT_BLOCKED` for content that the policy blocks
   */
  filterContent(text: string): string {
    return this.services.policies.filterContent(text);
  }

  /**
   * Waits for executing runs, then closes the database. Runs that do not end resume at the next start. Returns one promise to all calls.
   * @throws AppError `VALIDATION_FAILED`, `MODEL_REFUSED` if its replayed cassette does not fit the requests
   */
  close(): Promise<void> {
    return this.application.closeChecked();
  }

  private async toReply(answer: RunAnswer, format = this.behaviour.responseFormat): Promise<ChatReply> {
    const reply = toReply(answer);
    if (reply.finishReason === 'iteration_limit' && this.behaviour.onIterationLimit === 'throw')
      throw new IterationLimitError(reply);
    return 'output' in reply ? { ...reply, output: await asSchemaOutput(format, reply.output) } : reply;
  }
}
