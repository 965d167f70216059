import type { ChatResult, Message } from '../../src/llm/index.js';
import { ProcessorRegistry } from '../../src/reasoning/loop/processor.registry.js';
import { PromptBuilder } from '../../src/reasoning/prompt.builder.js';
import { ProtocolRegistry } from '../../src/reasoning/protocols/protocol.registry.js';
import { ReasoningEngine } from '../../src/reasoning/reasoning.engine.js';
import type { ReasoningOutcome, ReasoningRequest } from '../../src/reasoning/reasoning.types.js';
import type { RunContext } from '../../src/run/index.js';
import { ToolExecutor } from '../../src/tool/index.js';
import { type CallRates, CallRules, type SecurityPolicies } from '../../src/tool-policy/index.js';
import type { MortalDatabase } from './mortal-database.js';
import { ScriptedChatModel } from './scripted-chat-model.js';

/** The message of the user. */
export const INPUT: Message = { role: 'user', content: 'go' };

/** More model calls than any test makes. */
const MOST_REPLIES = 20;

type Asked = Pick<ReasoningRequest, 'model' | 'tools'> & Partial<ReasoningRequest>;

interface EngineParts {
  readonly executor?: ToolExecutor;
  readonly policies?: SecurityPolicies;
  readonly rates?: CallRates;
}

/** Runs a new engine in a run, as the next process would. Omitted options have minimal defaults. */
export function reasonIn(run: RunContext, asked: Asked, parts: EngineParts = {}): Promise<ReasoningOutcome> {
  const { executor = new ToolExecutor(), policies, rates } = parts;
  const [protocols, prompts, processors] = [new ProtocolRegistry(), new PromptBuilder(), new ProcessorRegistry()];
  const engine = new ReasoningEngine(
    protocols,
    prompts,
    executor,
    processors,
    policies,
    rates && new CallRules(rates, null),
  );
  const plain = {
    agent: null,
    instructions: '',
    history: [],
    input: INPUT,
    protocol: 'native',
    limits: { maxIterations: 10, maxResultBytes: 1000 },
    isStreaming: false,
  };
  return engine.run({ ...plain, ...asked }, run);
}

/** A model in a process that may die. @param reply its reply after this number of earlier replies */
export function mortalModel(process: MortalDatabase, reply: (said: number) => ChatResult): ScriptedChatModel {
  const answer = async ({ messages }: { readonly messages: readonly Message[] }) =>
    process.isDead ? process.silence : reply(messages.filter(({ role }) => role === 'assistant').length);
  return new ScriptedChatModel(Array.from({ length: MOST_REPLIES }, () => answer));
}
