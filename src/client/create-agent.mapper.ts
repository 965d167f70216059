import { deprecate } from 'node:util';
import { unknownOption } from '../kernel/text/index.js';
import { AppError } from '../errors/index.js';
import { assertOneOf } from './agent-reply.mapper.js';
import type { EnvRecord } from '../config/index.js';
import { type CreateAgentOptions, toStoreEnv } from './create-agent-options.js';
import { type LlmOptions, toLlmEnv } from '../llm/index.js';
import { Cassette } from '../llm/cassette/index.js';
import type { JackdawOptions } from '../jackdaw.module.js';

/** Options of the agent itself. */
const AGENT_FIELDS = [
  'name',
  'model',
  'limits',
  'memory',
  'responseFormat',
  'budgets',
  'guardrails',
  'approvals',
  'skills',
  'codeMode',
] as const;
/** Options of its module. */
const MODULE_FIELDS = [
  'tools',
  'runEvents',
  'restTools',
  'mcpServers',
  'a2aAgents',
  'workflows',
  'skillsDir',
  'modelFactories',
  'chatModel',
  'securityPolicy',
  'telemetry',
  'logger',
  'files',
  'requireStore',
  'keepAlive',
  'cache',
  'sessionStore',
  'stateManagers',
  'memories',
] as const;

/** Options that `agent` excludes. */
const EXCLUDED_BY_AGENT = [...AGENT_FIELDS, 'instructions', 'prompt', 'llm'] as const;

/** All other options; the type requires one entry for each. */
const OTHER_FIELDS: Readonly<Record<Exclude<keyof CreateAgentOptions, Listed>, true>> = {
  agent: true,
  instructions: true,
  prompt: true,
  llm: true,
  config: true,
  env: true,
  extensions: true,
  mcp: true,
  onIterationLimit: true,
  builtinTools: true,
  principal: true,
  cassette: true,
};
const LLM_FIELDS = ['apiType', 'apiKey', 'model', 'apiUrl', 'headers'] as const satisfies readonly (keyof LlmOptions)[];
const FIELDS: ReadonlySet<string> = new Set([...AGENT_FIELDS, ...MODULE_FIELDS, ...Object.keys(OTHER_FIELDS)]);

type Listed = (typeof AGENT_FIELDS)[number] | (typeof MODULE_FIELDS)[number];

/** Options for an application with only this agent. @throws AppError `AGENT_INVALID` for invalid options */
export function toModuleOptions(options: CreateAgentOptions): JackdawOptions {
  assertKnown(options);
  assertOneOf('onIterationLimit', options.onIterationLimit ?? 'answer', ['answer', 'throw']);
  const { builtinTools = false, mcp, extensions = [], cassette } = options;
  return {
    ...optional(options, MODULE_FIELDS),
    extensions,
    config: environmentOf(options),
    recovery: 'manual',
    builtinTools,
    agentsDir: false,
    workflowsDir: false,
    ...(cassette !== undefined && { cassette: cassette instanceof Cassette ? cassette : new Cassette(cassette) }),
    ...(mcp && { mcpOnly: mcp.enabled ? [nameOf(mcp.name)] : [] }),
    ...agentOf(options),
  };
}

/** Rejects unknown options, which untyped callers can pass. */
function assertKnown(options: CreateAgentOptions): void {
  const { llm, mcp } = options;
  const mistake =
    unknownOption(options, FIELDS) ??
    within('llm', unknownOption(llm ?? {}, LLM_FIELDS)) ??
    within('mcp', unknownOption(mcp ?? {}, ['enabled', 'name']));
  if (mistake !== undefined) throw new AppError('AGENT_INVALID', `createAgent: ${mistake}`);
}

function within(option: string, mistake: string | undefined): string | undefined {
  return mistake && `${option}: ${mistake}`;
}

function agentOf(options: CreateAgentOptions): Pick<JackdawOptions, 'agents' | 'agentChanges'> {
  const { agent } = options;
  if (!agent) {
    const { memory, ...fields } = optional(options, AGENT_FIELDS);
    const { persistence: _store, ...rules } = memory ?? {};
    return { agentChanges: { ...fields, ...(memory && { memory: rules }), ...instructionsOf(options) } };
  }
  const [twice] = Object.keys(optional(options, EXCLUDED_BY_AGENT));
  if (twice !== undefined) throw invalid(`agent and ${twice} exclude each other: give one of them`);
  return { agents: [agent] };
}

/** The listed options that are set. */
function optional<Key extends keyof CreateAgentOptions>(
  options: CreateAgentOptions,
  keys: readonly Key[],
): Pick<CreateAgentOptions, Key> {
  const fields = keys.flatMap((key) => (options[key] === undefined ? [] : [[key, options[key]] as const]));
  return Object.fromEntries(fields) as Pick<CreateAgentOptions, Key>;
}

function instructionsOf({ instructions, prompt }: CreateAgentOptions): { instructions?: string } {
  if (instructions !== undefined && prompt !== undefined) {
    throw invalid('prompt and instructions are the same option: give one of them');
  }
  const value = instructions ?? prompt;
  if (value === undefined) return {};
  return { instructions: text(value, prompt === undefined ? 'instructions' : 'prompt') };
}

const warnOfEnv = deprecate(() => undefined, 'createAgent: the option `env` is named `config`.', 'JACKDAW_ENV');

function variablesOf({ config, env }: CreateAgentOptions): EnvRecord {
  if (env === undefined) return config ?? {};
  if (config !== undefined) throw invalid('config and env are the same option: give config');
  warnOfEnv();
  return env;
}

function environmentOf(options: CreateAgentOptions): EnvRecord {
  const { memory } = options;
  const env = variablesOf(options);
  if (options.sessionStore !== undefined && memory?.persistence !== undefined) {
    throw invalid('sessionStore and memory.persistence both name a store: give one of them');
  }
  assertOneStore('sessionStore', options.sessionStore, 'SESSION_STORE', env);
  assertOneStore('cache', options.cache, 'LLM_CACHE', env);
  return { ...modelEnvironmentOf(options, env), ...toStoreEnv(memory?.persistence, env) };
}

/** An option replaces the variable, which would have no effect. */
function assertOneStore(option: string, store: unknown, variable: string, env: EnvRecord): void {
  if (store === undefined) return;
  const set = [variable, `JACKDAW_${variable}`].find((name) => env[name] !== undefined);
  if (set !== undefined) throw invalid(`${option} and config.${set} both name a store: give one of them`);
}

function modelEnvironmentOf({ llm, chatModel, model }: CreateAgentOptions, env: EnvRecord): EnvRecord {
  if (!llm) return env;
  if (chatModel) throw invalid('llm and chatModel both set the model: give one of them');
  if (model?.provider !== undefined || model?.name !== undefined) {
    throw invalid('llm and model both name a model: give one of them');
  }
  return { ...env, ...toLlmEnv(llm, text) };
}

function nameOf(name: unknown): string {
  if (typeof name === 'string' && name.trim() !== '') return name;
  throw new AppError('MCP_SERVER_INVALID', 'createAgent: mcp.name is missing: give the name of a declared MCP server.');
}

/** Validates a required text of an untyped caller. */
function text(value: unknown, field: string): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw invalid(`${field} is ${typeof value === 'string' ? 'blank' : 'missing'}: give a text, or omit it`);
}

function invalid(what: string): AppError {
  return new AppError('AGENT_INVALID', `createAgent: ${what}.`);
}
