import { AppError } from './common/index.js';
import { providerEnv, type EnvRecord } from './config/index.js';
import type { CreateAgentOptions, LlmOptions } from './create-agent.types.js';
import type { JackdawOptions } from './jackdaw.module.js';
import { TelemetryExtension } from './telemetry-extension.js';
import { nearNames } from './tool/index.js';

/** What may be said of the agent itself. */
const AGENT_FIELDS = [
  'name',
  'model',
  'limits',
  'memory',
  'responseFormat',
  'budgets',
  'guardrails',
  'approvals',
] as const;
/** What may be said of its surroundings. */
const MODULE_FIELDS = [
  'tools',
  'runEvents',
  'restTools',
  'mcpServers',
  'workflows',
  'modelFactories',
  'chatModel',
  'securityPolicy',
] as const;

/** What `agent` says already. */
const SAID_BY_AGENT = [...AGENT_FIELDS, 'instructions', 'prompt', 'llm'] as const;

/** All else that may be said: one entry each, or it does not compile. */
const OTHER_FIELDS: Readonly<Record<Exclude<keyof CreateAgentOptions, Listed>, true>> = {
  agent: true,
  instructions: true,
  prompt: true,
  llm: true,
  env: true,
  extensions: true,
  telemetry: true,
  mcp: true,
  builtinTools: true,
  principal: true,
  logger: true,
};
const FIELDS: ReadonlySet<string> = new Set([...AGENT_FIELDS, ...MODULE_FIELDS, ...Object.keys(OTHER_FIELDS)]);

type Listed = (typeof AGENT_FIELDS)[number] | (typeof MODULE_FIELDS)[number];

/** What an application is made of that has this agent alone. @throws AppError `AGENT_INVALID` for what can be no agent */
export function toModuleOptions(options: CreateAgentOptions): JackdawOptions {
  assertKnown(options);
  const { builtinTools = false, mcp, extensions = [], telemetry } = options;
  return {
    ...given(options, MODULE_FIELDS),
    extensions: telemetry ? [...extensions, new TelemetryExtension(telemetry)] : extensions,
    config: environmentOf(options),
    recovery: 'manual',
    builtinTools,
    agentsDir: false,
    workflowsDir: false,
    ...(mcp && { mcpOnly: mcp.enabled ? [nameOf(mcp.name)] : [] }),
    ...agentOf(options),
  };
}

/** Programs without types may say what nobody listens to. */
function assertKnown(options: object): void {
  const unknown = Object.keys(options).find((key) => !FIELDS.has(key));
  if (unknown === undefined) return;
  const [near] = nearNames(unknown, FIELDS);
  const meant =
    near === undefined ? `leave it out, or give one of ${[...FIELDS].join(', ')}` : `did you mean "${near}"?`;
  throw new AppError('AGENT_INVALID', `createAgent: there is no option "${unknown}": ${meant}`);
}

function agentOf(options: CreateAgentOptions): Pick<JackdawOptions, 'agents' | 'agentChanges'> {
  const { agent } = options;
  if (!agent) return { agentChanges: { ...given(options, AGENT_FIELDS), ...instructionsOf(options) } };
  const [twice] = Object.keys(given(options, SAID_BY_AGENT));
  if (twice !== undefined) throw invalid(`agent and ${twice} both say what it is: give one of them`);
  return { agents: [agent] };
}

/** Those of the fields that are not left out. */
function given<Key extends keyof CreateAgentOptions>(
  options: CreateAgentOptions,
  keys: readonly Key[],
): Pick<CreateAgentOptions, Key> {
  const fields = keys.flatMap((key) => (options[key] === undefined ? [] : [[key, options[key]] as const]));
  return Object.fromEntries(fields) as Pick<CreateAgentOptions, Key>;
}

function instructionsOf({ instructions, prompt }: CreateAgentOptions): { instructions?: string } {
  if (instructions !== undefined && prompt !== undefined) {
    throw invalid('prompt and instructions are the same: give one of them');
  }
  const said = instructions ?? prompt;
  if (said === undefined) return {};
  return { instructions: text(said, prompt === undefined ? 'instructions' : 'prompt') };
}

function environmentOf({ llm, chatModel, model, env = {} }: CreateAgentOptions): EnvRecord {
  if (!llm) return env;
  if (chatModel) throw invalid('llm and chatModel both say what answers: give one of them');
  if (model?.provider !== undefined || model?.name !== undefined) {
    throw invalid('llm and model both name a model: give one of them');
  }
  return { ...env, ...toEnv(llm) };
}

function toEnv({ apiType, apiKey, model, apiUrl }: LlmOptions): EnvRecord {
  return providerEnv(text(apiType, 'llm.apiType'), {
    ...(apiKey !== undefined && { apiKey: text(apiKey, 'llm.apiKey') }),
    ...(model !== undefined && { model: text(model, 'llm.model') }),
    ...(apiUrl !== undefined && { baseUrl: text(apiUrl, 'llm.apiUrl') }),
  });
}

function nameOf(name: unknown): string {
  if (typeof name === 'string' && name.trim() !== '') return name;
  throw new AppError('MCP_SERVER_INVALID', 'createAgent: mcp.name is missing: give the name of a declared MCP server.');
}

/** Programs without types leave out what must be there. */
function text(value: unknown, field: string): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw invalid(`${field} is ${typeof value === 'string' ? 'blank' : 'missing'}: give a text, or leave it out`);
}

function invalid(what: string): AppError {
  return new AppError('AGENT_INVALID', `createAgent: ${what}.`);
}
