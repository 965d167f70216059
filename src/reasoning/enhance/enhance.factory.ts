import { ConfiguredSecrets, loadConfig } from '../../config/index.js';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import type { ChatModel } from '../../llm/chat/index.js';
import type { McpRegistry } from '../../mcp/index.js';
import { SecurityPolicies } from '../../tool-policy/index.js';
import { ToolStates } from '../../tool-state/index.js';
import { type CallSite, type CheckedCall, type Invoked, type RequestedCall, ToolExecutor } from '../../tool/index.js';
import type { InvokeOptions } from '../../tool/call/index.js';
import { NoToolSwitch, type PlannedCall, ToolPolicyRegistry } from '../../tool/decision/index.js';
import type { Tool } from '../../tool/method/index.js';
import { failedResult } from '../../tool/result/index.js';
import type { StatefulCalls } from '../../tool/stateful/index.js';
import { CallerTaintPolicy } from '../loop/data-facts.executor.js';
import { PromptBuilder, ProtocolRegistry } from '../loop/pipeline.js';
import { ProcessorRegistry } from '../loop/processor.registry.js';
import { ReasoningEngine } from '../reasoning.engine.js';
import { EnhancedChatModel } from './enhanced-chat-model.js';
import { type EnhancingTools, offeredTools } from './offered-tools.factory.js';

const UNATTENDED = 'no person can be asked here. Continue without the call.';

/** Executes tools without human decisions: a call that would wait for a person gets an error for the model. */
export class UnattendedToolExecutor extends ToolExecutor {
  override async plan(
    call: RequestedCall,
    tools: ReadonlyMap<string, Tool>,
    site: CallSite,
  ): Promise<Exclude<PlannedCall, { kind: 'approval' }>> {
    const planned = await super.plan(call, tools, site);
    if (planned.kind !== 'approval') return planned;
    const error = `Not executed: a person must agree to it first (${planned.reason}), and ${UNATTENDED}`;
    const result = failedResult(call.name, 'TOOL_DENIED', error);
    return { kind: 'rejected', result, ...(planned.notes && { notes: planned.notes }) };
  }

  override async invoke(call: CheckedCall, site: CallSite, options?: InvokeOptions): Promise<Invoked> {
    const invoked = await super.invoke(call, site, options);
    const { name } = call.tool.definition;
    switch (invoked.kind) {
      case 'result':
        return invoked;
      case 'unknown':
        return { kind: 'result', result: failedResult(name, 'TOOL_OUTCOME_UNKNOWN', invoked.reason) };
      case 'suspended': {
        const error = `The tool asks a person ${JSON.stringify(invoked.suspension.question)}, and ${UNATTENDED}`;
        return { kind: 'result', result: failedResult(name, 'TOOL_FAILED', error) };
      }
    }
  }
}

export interface EnhanceOptions {
  /** Maximum rounds of tool calls in one call of the model, at least 1; 5 by default. */
  readonly maxDepth?: number;
  /** Format of tools and calls for the model; by default (`auto`) `native` if the model supports it, else `xml`. */
  readonly protocol?: 'auto' | 'native' | 'react' | 'xml';
  /**
   * Principal of the tool calls; by default `local` of the tenant `default`. The `tenant` of a call takes precedence.
   */
  readonly principal?: Principal;
  /** Storage of stateful tools; by default that of the registry or server, in memory for a function. */
  readonly states?: StatefulCalls;
  /** Registry that resolves the name of an MCP server; by default the servers declared with `registerMcp`. */
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
 * A model that calls these tools by itself. `generate` and `stream` use the seven processors of an agent's run, without
 * a journal. Calls are independent, also concurrent ones.
 *
 * `generate` returns the answer, with the usage of all replies. `stream` yields the text of every reply, with a
 * `restart` before the next one, then the answer. After the last round the answer is a note about the limit, with the
 * finish reason `length`. Errors of tools go to the model. A tool that needs a person's decision fails. Errors of the
 * model and the reason of an aborted signal are thrown unchanged.
 * @param tools tools that the model may call; a string names an MCP server, whose tools are used
 * @throws AppError `TOOL_INVALID`, `TOOL_DUPLICATE`, `CONFIG_INVALID`, `MCP_SERVER_NOT_FOUND`
 */
export function enhance(model: ChatModel, tools: EnhancingTools, options: EnhanceOptions = {}): ChatModel {
  assertModel(model);
  assertOptions(options);
  const { maxDepth = DEFAULT_MAX_DEPTH, protocol = 'auto', principal = LOCAL } = options;
  const offered = offeredTools(tools, options.servers);
  const states = options.states ?? offered.states ?? ToolStates.inMemory();
  const engine = createEngine(states);
  const own = model.capabilities.functionCalling ? 'native' : 'xml';
  const spoken = protocol === 'auto' ? own : protocol;
  return new EnhancedChatModel(model, { engine, tools: offered, states, protocol: spoken, principal, maxDepth });
}

/** An engine with default settings and without the policies of an application. */
function createEngine(states: StatefulCalls): ReasoningEngine {
  const [rules, policies] = [new ToolPolicyRegistry(), new SecurityPolicies()];
  rules.register(new CallerTaintPolicy());
  const { agent } = loadConfig({ env: {} }).config;
  const secrets = new ConfiguredSecrets([]);
  const tools = new UnattendedToolExecutor(rules, new NoToolSwitch(), states, agent, policies, secrets);
  return new ReasoningEngine(
    new ProtocolRegistry(),
    new PromptBuilder(),
    tools,
    new ProcessorRegistry(),
    policies,
    null,
  );
}

function assertModel(model: Partial<ChatModel> | null | undefined): void {
  if (typeof model?.generate === 'function' && typeof model.stream === 'function' && model.capabilities) return;
  throw new AppError('CONFIG_INVALID', 'enhance(): the first argument is not a ChatModel.');
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
