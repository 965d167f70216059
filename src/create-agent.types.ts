import type { LoggerService, Type } from '@nestjs/common';
import type { AgentDefinitionInput, Extension, GivenFormat } from './agent/index.js';
import type { Principal } from './common/index.js';
import type { EnvRecord } from './config/index.js';
import type { JackdawOptions } from './jackdaw.module.js';
import type { ChatModel, ModelFactory } from './llm/index.js';
import type { RunNoticeListener } from './run/index.js';
import type { SecurityPolicy } from './tool/index.js';

/** A provider and its access. */
export interface LlmOptions {
  /** As in `LLM_PROVIDER`: `openai`, `anthropic`, `ollama`, … */
  readonly apiType: string;
  /** As the environment says when left out. */
  readonly apiKey?: string | undefined;
  /** The provider's default when left out. */
  readonly model?: string;
  /** Where its API begins; the provider's own address when left out. */
  readonly apiUrl?: string;
}

/** A declared MCP server. */
export interface McpChoice {
  readonly enabled: boolean;
  readonly name: string;
}

export interface CreateAgentOptions {
  /**
   * The agent as one, such as `parseAgent` gives it; its `tools` are names of those that are there. Instead of `name`, `instructions`,
   * `prompt`, `llm`, `model`, `limits`, `memory` and `responseFormat`: keys of its provider are the environment's, or `env`'s.
   */
  readonly agent?: AgentDefinitionInput;
  /** By default `default`. */
  readonly name?: string;
  readonly instructions?: string;
  /** The same as `instructions`; give one of them. */
  readonly prompt?: string;
  /** Which model answers, in short: what it says wins over the environment and `env`. Not beside `chatModel`. */
  readonly llm?: LlmOptions;
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
  /**
   * Whose tools it has of the MCP servers that `registerMcp`, `mcpServers` or the file declare: that one's, or with `enabled: false`
   * nobody's. Without it, all of them. It is connected to before the agent is there.
   */
  readonly mcp?: McpChoice;
  /** MCP servers beside those of `config/mcp-servers.json` and `registerMcp`. */
  readonly mcpServers?: JackdawOptions['mcpServers'];
  /** Workflows that it can run (`runWorkflow`); it reads no folder of them. */
  readonly workflows?: JackdawOptions['workflows'];
  /** Endpoints as tools. */
  readonly restTools?: JackdawOptions['restTools'];
  /** Whether `calculator`, `get_timestamp`, `string_tools` and `sequentialthinking` are there too; by default they are not. */
  readonly builtinTools?: boolean;
  readonly limits?: AgentDefinitionInput['limits'];
  /** What it may spend, each part of it with `tokens`, `cost` or both: `{ run: { tokens: 50_000 } }`. */
  readonly budgets?: AgentDefinitionInput['budgets'];
  /** What it may not do, beside what the security policy says; docs/policies.md. */
  readonly guardrails?: AgentDefinitionInput['guardrails'];
  /** Names of tools, with `*` for any characters, of which every call needs a person. */
  readonly approvals?: AgentDefinitionInput['approvals'];
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
  /**
   * Hears everything that runs record, once it is durable: usage of each model call, tools with their times, ends. Nobody waits for it,
   * and what it throws is logged.
   */
  readonly telemetry?: RunNoticeListener;
}
