import { AppError, type JsonSchema } from '../../common/index.js';
import { createValueCheck, type Tool, type ToolApproval } from '../../tool/index.js';
import type { AgentDefinition, AgentDefinitionInput } from '../agent-definition.schema.js';

/** The kind of agents' runs. */
export const AGENT_RUN = 'agent';

/** How an agent is told to be asked, where that is otherwise. */
export interface SubAgentToolOptions {
  /** By default `ask_` and the agent's name. */
  readonly name?: string;
  /** For the model: what the agent is good for; by default what its definition says. */
  readonly description?: string;
  /** When a person must agree before it is asked; by default never. */
  readonly approval?: ToolApproval;
}

/** What an agent is told by the one that asks it. */
export interface AskedQuestion {
  readonly query: string;
  /** What it is, where the registry does not have it. */
  readonly definition?: AgentDefinitionInput;
  /** Whether its messages can be followed as they come; as the asking run's when left out. */
  readonly isStreaming?: boolean;
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

/** The name of the tool by which an agent is asked. */
export function askName(agent: string): string {
  return `ask_${agent}`;
}

/** The name of the tool by which an agent takes over. */
export function transferName(agent: string): string {
  return `transfer_to_${agent}`;
}

/** A tool that asks an agent: what it answers is the result. */
export function askTool({ name, description }: Described, options: SubAgentToolOptions = {}): Tool {
  const what = options.description ?? `Asks the agent "${name}"${described(description)} Gives its answer.`;
  const tool = { ...options, name: options.name ?? askName(name), description: what };
  return subAgentTool(tool, QUESTION, { kind: AGENT_RUN, name, isHandoff: false });
}

/** A tool that hands the conversation over to an agent: what that answers is the answer to the user. */
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
      // The run that it is has an id of its own, and is never begun twice.
      effect: 'idempotent',
      source: `agents.asTool(${JSON.stringify(name)})`,
      // Whatever leaves the application leaves it by a tool of the agent's own.
      egress: false,
      untrusted: false,
      ...(approval !== undefined && { approval }),
    },
    validate: check,
    invoke: () => {
      throw new AppError('TOOL_FAILED', 'An agent can be asked in a run only: there is none here to call it.');
    },
    child,
  };
}

function described(description: string): string {
  const text = description.trim();
  if (text === '') return '.';
  return `: ${text}${/[.!?。]$/.test(text) ? '' : '.'}`;
}
