import { reasoningEngine } from './reasoning-engine.js';
import type { ChatResult, Message } from '../../src/llm/chat/index.js';
import type { ReasoningOutcome, ReasoningRequest } from '../../src/reasoning/reasoning.types.js';
import type { RunContext } from '../../src/run/context/index.js';
import type { ToolExecutor } from '../../src/tool/index.js';
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
  const { rates, ...services } = parts;
  const engine = reasoningEngine({ ...services, rules: rates ? new CallRules(rates, null) : null });
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
