import { AppError, type Principal } from '../../common/index.js';
import type { ChatModel } from '../../llm/index.js';
import type { McpRegistry } from '../../mcp/index.js';
import { ToolStates } from '../../tool/index.js';
import { ProcessorRegistry } from '../pipeline/processor.registry.js';
import { PromptBuilder } from '../prompt.builder.js';
import { ProtocolRegistry } from '../protocols/protocol.registry.js';
import { ReasoningEngine } from '../reasoning.engine.js';
import { EnhancedChatModel } from './enhanced-chat-model.js';
import { offeredTools, type EnhancingTools } from './offered-tools.factory.js';
import { UnattendedToolExecutor } from './unattended-tool.executor.js';

export interface EnhanceOptions {
  /** How many rounds of tool calls one call of the model may make, from 1 on; 5 when left out. */
  readonly maxDepth?: number;
  /** How the model is told of tools and calls them; by default (`auto`) `native` where it can, else `xml`. */
  readonly protocol?: 'auto' | 'native' | 'react' | 'xml';
  /** For whom tools are called; by default `local` of the tenant `default`. The `tenant` of a call wins. */
  readonly principal?: Principal;
  /** Where stateful tools of a function keep what they keep; by default in memory. */
  readonly states?: ToolStates;
  /** Where a name is looked up that is given for the tools; by default among what `registerMcp` declared. */
  readonly servers?: McpRegistry;
}

const KEYS: ReadonlySet<string> = new Set<keyof EnhanceOptions>([
  'maxDepth',
  'protocol',
  'principal',
  'states',
  'servers',
]);
const PROTOCOLS: readonly string[] = ['auto', 'native', 'react', 'xml'];
const DEFAULT_MAX_DEPTH = 5;
const LOCAL: Principal = { id: 'local', tenant: 'default', roles: [] };

/**
 * A model that calls these tools by itself: `generate` and `stream` go through the same seven processors as an agent's
 * run, without a journal. Each call stands alone; several at once do not know of each other.
 *
 * `generate` gives the answer, with what all replies took. `stream` gives the text of every reply as it comes, with a
 * `restart` where the next one begins, then the answer. Where the rounds are used up, the answer says so, with the finish
 * reason `length`. What a tool throws goes back to the model; a tool that wants a person is an error, as nobody waits.
 * What the model throws comes through, and of an aborted signal its reason.
 * @param tools what it may call; of a name, the tools of the MCP server that is called so
 * @throws AppError `TOOL_INVALID`, `TOOL_DUPLICATE`, `CONFIG_INVALID`, `MCP_SERVER_NOT_FOUND`
 */
export function enhance(model: ChatModel, tools: EnhancingTools, options: EnhanceOptions = {}): ChatModel {
  assertModel(model);
  assertOptions(options);
  const { maxDepth = DEFAULT_MAX_DEPTH, protocol = 'auto', principal = LOCAL } = options;
  const offered = offeredTools(tools, options.servers);
  const states = options.states ?? offered.states ?? ToolStates.inMemory();
  const engine = new ReasoningEngine(
    new ProtocolRegistry(),
    new PromptBuilder(),
    new UnattendedToolExecutor(undefined, undefined, states),
    new ProcessorRegistry(),
  );
  const own = model.capabilities.functionCalling ? 'native' : 'xml';
  const spoken = protocol === 'auto' ? own : protocol;
  return new EnhancedChatModel(model, { engine, tools: offered, states, protocol: spoken, principal, maxDepth });
}

function assertModel(model: Partial<ChatModel> | null | undefined): void {
  if (typeof model?.generate === 'function' && typeof model.stream === 'function' && model.capabilities) return;
  throw new AppError('CONFIG_INVALID', 'enhance(): the first argument is no ChatModel.');
}

function assertOptions(options: EnhanceOptions): void {
  const { maxDepth = DEFAULT_MAX_DEPTH, protocol = 'auto' } = options;
  const unknown = Object.keys(options).filter((key) => !KEYS.has(key));
  if (unknown.length > 0) throw invalid(`unknown ${unknown.join(', ')} (known: ${[...KEYS].join(', ')})`);
  if (!Number.isInteger(maxDepth) || maxDepth < 1)
    throw invalid(`maxDepth is ${maxDepth}: use a whole number from 1 on`);
  if (!PROTOCOLS.includes(protocol))
    throw invalid(`there is no protocol "${protocol}"; there is: ${PROTOCOLS.join(', ')}`);
}

function invalid(problem: string): AppError {
  return new AppError('CONFIG_INVALID', `enhance(): ${problem}.`);
}
