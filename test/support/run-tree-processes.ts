import type { FakeCall, FakeReply, FakeRequest } from './fake-llm.types.js';
import { agentIn, ask, resultsShown } from './run-tree.js';

/** For `AGENTS` of a server in a process of its own: the agent `boss` asks `worker`, which has the tools. */
export const AGENT_TREE = JSON.stringify([
  { name: 'boss', instructions: 'I am boss.', model: { provider: 'openai' }, tools: [], subAgents: ['worker'] },
  { name: 'worker', instructions: 'I am worker.', model: { provider: 'openai' } },
]);

/** The boss asks once, the worker makes these calls in sequence; both continue from the results in the request. */
export function runTreeScript(calls: readonly FakeCall[]) {
  return (request: FakeRequest): FakeReply => {
    const results = resultsShown(request);
    if (agentIn(request) === 'boss') {
      return results.length === 0 ? { calls: [ask('worker', 'do it')] } : { text: `boss: ${String(results[0])}` };
    }
    const next = calls[results.length];
    return next ? { calls: [{ id: `w${results.length + 1}`, ...next }] } : { text: 'all done' };
  };
}
