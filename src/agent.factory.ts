import 'reflect-metadata';
import type { INestApplicationContext, LoggerService, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  AgentRegistry,
  AgentService,
  DirectCallService,
  toCallValue,
  toRunError,
  UserErasureService,
  type AgentDefinitionInput,
  type Extension,
  type GivenFormat,
  type RunAnswer,
  asSchemaOutput,
} from './agent/index.js';
import { AgentSessions } from './agent-sessions.client.js';
import type { JsonValue, Principal } from './common/index.js';
import type { EnvRecord } from './config/index.js';
import { ExtensionLoader } from './extension/index.js';
import { JackdawModule, type JackdawOptions } from './jackdaw.module.js';
import type { ChatModel, ModelFactory, ModelParameters, ToolChoice, Usage } from './llm/index.js';
import { RunService, toUsage, type RunEvent, type RunFinishReason } from './run/index.js';
import { SecurityPolicies, StatefulToolSessions, type SecurityPolicy, type StatefulToolSession } from './tool/index.js';
import { MemoryFactory, SessionKeeper, SessionService, type Memory, type MemoryRules } from './session/index.js';

export interface CreateAgentOptions {
  /** By default `default`. */
  readonly name?: string;
  readonly instructions?: string;
  /** What of its model is not as the environment says: `{ name, parameters, capabilities, provider }`. */
  readonly model?: Partial<AgentDefinitionInput['model']>;
  /** A model of one's own; takes the place of every provider. */
  readonly chatModel?: ChatModel;
  /** Providers of one's own, beside those that come with Jackdaw. */
  readonly modelFactories?: readonly ModelFactory[];
  /** Variables that win over the environment, as in the README's table: `{ OPENAI_API_KEY: …, DATA_DIR: … }`. */
  readonly env?: EnvRecord;
  /** Providers with `@Tool` methods: classes, which Nest makes, or objects. */
  readonly tools?: readonly (Type | object)[];
  /** What is added to the agent as one: classes, which Nest makes, or objects. */
  readonly extensions?: readonly (Type<Extension> | Extension)[];
  /** Whether run events reach `@OnEvent` methods of tools and extensions; by default they do not. */
  readonly runEvents?: boolean;
  /** Endpoints as tools. */
  readonly restTools?: JackdawOptions['restTools'];
  /** Whether `calculator`, `get_timestamp`, `string_tools` and `sequentialthinking` are there too; by default they are not. */
  readonly builtinTools?: boolean;
  readonly limits?: AgentDefinitionInput['limits'];
  /** What its answers must be: `json`, a JSON Schema or a Standard Schema such as zod's; the value is `output`. */
  readonly responseFormat?: GivenFormat;
  /** What of its session's past a run sees. */
  readonly memory?: AgentDefinitionInput['memory'];
  /** What it may do, beside what `SECURITY_POLICY_FILE` says. */
  readonly securityPolicy?: SecurityPolicy;
  /** Who asks; by default `local` of the tenant `default`. */
  readonly principal?: Principal;
  /** By default only warnings and errors are logged. */
  readonly logger?: LoggerService;
}

export interface ChatOptions {
  /** The conversation to go on with; a new one when left out. */
  readonly sessionId?: string;
  /** Another model of the same provider, or one of another provider that is configured, as `provider:name`. */
  readonly model?: string;
  /** They win over the agent's. */
  readonly parameters?: ModelParameters;
  /** Whether the model calls tools in its first reply; by default as it likes. `none`: it is told of none at all. */
  readonly toolChoice?: ToolChoice;
  /** What the answer must be, instead of what the agent says. */
  readonly responseFormat?: GivenFormat;
  /** What is shown beside the question: https URLs, or data URIs of PNG, JPEG, GIF or WebP. */
  readonly images?: readonly { readonly url: string }[];
}

/** An agent's answer. */
export interface ChatReply {
  readonly role: 'assistant';
  readonly content: string;
  /** The answer's value, where it has a format: what a Standard Schema makes of it. */
  readonly output?: unknown;
  readonly finishReason: RunFinishReason | null;
  /** Whether the agent came to its answer; not when a limit ended the run. */
  readonly isComplete: boolean;
  readonly usage: Usage;
  readonly iterations: number;
  readonly runId: string;
  readonly sessionId: string | null;
}

/** An agent without HTTP, over the same services and the same journal as the server. Close it when done. */
export class Agent {
  private readonly agents: AgentService;
  /** What was said to it, and what people may do with that. */
  readonly sessions: AgentSessions;

  constructor(
    private readonly context: INestApplicationContext,
    private readonly principal: Principal,
    /** What its answers are, as it was given. */
    private readonly responseFormat?: GivenFormat,
  ) {
    this.agents = context.get(AgentService, { strict: false });
    this.sessions = new AgentSessions(principal, {
      sessions: context.get(SessionService, { strict: false }),
      keeper: context.get(SessionKeeper, { strict: false }),
      users: context.get(UserErasureService, { strict: false }),
    });
  }

  /**
   * Asks and waits for the answer.
   * @throws AppError with the failure's code when the run fails, `OUTPUT_INVALID` also when a Standard Schema's own validator
   *   refuses what fits as JSON
   */
  async chat(query: string, options: ChatOptions = {}): Promise<ChatReply> {
    const reply = toReply(await this.agents.chat(this.principal, { query, ...options }));
    if (!('output' in reply)) return reply;
    const output = await asSchemaOutput(options.responseFormat ?? this.responseFormat, reply.output);
    return { ...reply, output };
  }

  /**
   * Asks and tells what happens, message deltas included; resolves when the run has ended or waits. A run that fails is
   * told too, as `run.failed`; only what prevents it from beginning is thrown.
   */
  async stream(query: string, callback: (event: RunEvent) => void, options: ChatOptions = {}): Promise<void> {
    const { items } = await this.agents.stream(this.principal, { query, ...options }, new AbortController().signal);
    for await (const { event } of items) callback(event);
  }

  /**
   * A conversation in hand, for a program that talks to a model by itself.
   * @param rules where they differ from the agent's @throws AppError `MEMORY_POLICY_INVALID`
   */
  createMemory(rules: Partial<MemoryRules> = {}): Promise<Memory> {
    const { memory } = this.context.get(AgentRegistry, { strict: false }).get().definition;
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

  /** Waits for what runs, then gives the database back. */
  async close(): Promise<void> {
    await this.context.close();
  }
}

/** What may be said of the agent itself. */
const AGENT_FIELDS = ['name', 'instructions', 'model', 'limits', 'memory', 'responseFormat'] as const;

/**
 * Makes an agent that can be asked from a script. The environment and `.env` are read as the server reads them.
 * @throws AppError `CONFIG_INVALID`, `AGENT_INVALID`, `TOOL_DUPLICATE`, `EXTENSION_INVALID`, `DATABASE_LOCKED`
 */
export async function createAgent(options: CreateAgentOptions = {}): Promise<Agent> {
  const context = await NestFactory.createApplicationContext(JackdawModule.forRoot(toModuleOptions(options)), {
    logger: options.logger ?? ['warn', 'error'],
    abortOnError: false,
  });
  await context.get(RunService, { strict: false }).recover();
  return new Agent(
    context,
    options.principal ?? { id: 'local', tenant: 'default', roles: ['admin'] },
    options.responseFormat,
  );
}

function toModuleOptions(options: CreateAgentOptions): JackdawOptions {
  const { env = {}, chatModel, securityPolicy, modelFactories = [], builtinTools = false } = options;
  const { tools = [], restTools = [], extensions = [], runEvents = false } = options;
  const changes = AGENT_FIELDS.flatMap((field) =>
    options[field] === undefined ? [] : [[field, options[field]] as const],
  );
  return {
    config: env,
    recovery: 'manual',
    builtinTools,
    tools,
    extensions,
    runEvents,
    restTools,
    modelFactories,
    ...(chatModel && { chatModel }),
    ...(securityPolicy && { securityPolicy }),
    agentChanges: Object.fromEntries(changes),
  };
}

function toReply(answer: RunAnswer): ChatReply {
  if (answer.error) throw toRunError(answer);
  const { result, finish_reason, is_complete, usage, iterations, run_id, session_id } = answer;
  return {
    role: 'assistant',
    content: result,
    ...('output' in answer && { output: answer.output }),
    finishReason: finish_reason,
    isComplete: is_complete,
    usage: toUsage(usage),
    iterations,
    runId: run_id,
    sessionId: session_id,
  };
}
