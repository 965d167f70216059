import { hash } from 'node:crypto';
import { AppError } from '../../errors/index.js';
import type { JsonSchema } from '../../kernel/json/index.js';
import type { ParameterName } from '../../llm/chat/index.js';
import type { ToolApproval } from '../../tool/index.js';
import { createValueCheck } from '../../tool/input/index.js';
import type { Tool } from '../../tool/method/index.js';
import type { AgentDefinition, AgentDefinitionInput } from '../definition/agent-definition.schema.js';

/** Kind of agent runs. */
export const AGENT_RUN = 'agent';

/** Overrides of the tool that asks an agent. */
export interface SubAgentToolOptions {
  /** Default: `ask_<agent>`. */
  readonly name?: string;
  /** For the model: the purpose of the agent; default: the description in its definition. */
  readonly description?: string;
  /** Condition under which a call needs approval; default: never. */
  readonly approval?: ToolApproval;
}

/** Input of a child run: the question to an agent. */
export interface SubAgentQuestion {
  readonly query: string;
  /** Definition of an agent that is not registered. */
  readonly definition?: AgentDefinitionInput;
  /** Whether followers receive message deltas; default: as in the parent run. */
  readonly isStreaming?: boolean;
  /** Parameters of that definition that no user set. */
  readonly optionalParameters?: readonly ParameterName[];
}

type Described = Pick<AgentDefinition, 'name' | 'description'>;

const QUESTION: JsonSchema = {
  type: 'object',
  properties: {
    query: {
      type: 'string',
      pattern: String.raw`\S`,
      description: 'The whole question or task: the agent knows nothing else of this conversation.',
    },
  },
  required: ['query'],
  additionalProperties: false,
};
const NOTHING: JsonSchema = { type: 'object', properties: {}, additionalProperties: false };

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_TOOL_NAME = 64;
const HASH_LENGTH = 10;

/** Name of the tool that asks an agent. */
export function askName(agent: string): string {
  return toolName('ask_', agent);
}

/** Name of the tool that hands the conversation over to an agent. */
export function transferName(agent: string): string {
  return toolName('transfer_to_', agent);
}

/** Every provider accepts the name. One that no tool may have is shortened to its ASCII part and a hash of the agent's name. */
function toolName(prefix: string, agent: string): string {
  const name = prefix + agent;
  if (TOOL_NAME.test(name)) return name;
  const readable = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_TOOL_NAME - HASH_LENGTH - 1);
  return `${readable}_${hash('sha256', agent).slice(0, HASH_LENGTH)}`;
}

/** A tool that asks an agent; its result is the agent's answer. */
export function askTool({ name, description }: Described, options: SubAgentToolOptions = {}): Tool {
  const what = options.description ?? `Asks the agent "${name}"${described(description)} Gives its answer.`;
  const tool = { ...options, name: options.name ?? askName(name), description: what };
  return subAgentTool(tool, QUESTION, { kind: AGENT_RUN, name, isHandoff: false });
}

/** A tool that hands the conversation over; the answer of that agent is the answer to the user. */
export function transferTool({ name, description }: Described): Tool {
  const what = `Hands the conversation over to the agent "${name}", who answers the user in your place${described(description)}`;
  const tool = { name: transferName(name), description: what };
  return subAgentTool(tool, NOTHING, { kind: AGENT_RUN, name, isHandoff: true });
}

function subAgentTool(
  { name, description, approval }: SubAgentToolOptions & Described,
  inputSchema: JsonSchema,
  child: NonNullable<Tool['child']>,
): Tool {
  const check = createValueCheck(inputSchema, 'arguments');
  return {
    definition: { name, description, inputSchema },
    metadata: {
      // The child run has its own id and starts at most once.
      effect: 'idempotent',
      source: `agents.asTool(${JSON.stringify(name)})`,
      // Data can leave the application only through the agent's own tools.
      egress: false,
      untrusted: false,
      // Its run gives back the facts of the data that it has read.
      private: false,
      ...(approval !== undefined && { approval }),
    },
    validate: check,
    invoke: () => {
      throw new AppError('TOOL_FAILED', 'An agent can be called only inside a run.');
    },
    child,
  };
}

function described(description: string): string {
  const text = description.trim();
  if (text === '') return '.';
  return `: ${text}${/[.!?。]$/.test(text) ? '' : '.'}`;
}
