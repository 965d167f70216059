// An agent with a chat model that answers at once, and the cost of one of its runs.
import { ChatModel, createAgent, Tool } from 'jackdaw';

/** Maximum calls of a run. */
export const TOOL_TURNS = 10;
/** A tool turn is a model step and a tool step. */
export const STEPS = 2 * TOOL_TURNS;

/** Requests the tool as many times as the question says, then answers. */
class InstantModel extends ChatModel {
  provider = 'instant';
  name = 'instant';
  capabilities = { vision: false, functionCalling: true, jsonMode: false };

  constructor(tool) {
    super();
    this.tool = tool;
  }

  async generate({ messages }) {
    const asked = messages.findLastIndex((message) => message.role === 'user');
    const turns = (messages.length - 1 - asked) / 2;
    const isDone = turns >= Number(messages[asked].content);
    const toolCalls = [{ id: `call_${turns}`, name: this.tool, arguments: '{"text":"hello"}' }];
    return {
      message: isDone ? { role: 'assistant', content: 'done' } : { role: 'assistant', content: '', toolCalls },
      finishReason: isDone ? 'stop' : 'tool_calls',
      usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 },
      model: 'instant',
    };
  }

  async *stream(request) {
    yield { type: 'finish', result: await this.generate(request) };
  }
}

class EchoTools {
  echo({ text }) {
    return text;
  }
}
const input = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
Tool({ name: 'echo', description: 'Echoes.', effect: 'read', input })(
  EchoTools.prototype,
  'echo',
  Object.getOwnPropertyDescriptor(EchoTools.prototype, 'echo'),
);

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** CPU and wall time of one run in ms, with `concurrency` of them in flight. */
export async function measure(agent, query, concurrency, windowMs) {
  let runs = 0;
  const cpu = cpuMs();
  const from = performance.now();
  const until = from + windowMs;
  const worker = async () => {
    while (performance.now() < until) {
      await agent.chat(query, { newSession: true });
      runs++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return { cpu: (cpuMs() - cpu) / runs, wall: ((performance.now() - from) / runs) * concurrency };
}

/** @param env variables that override the environment, at least `DATA_DIR` @param tool tool that the agent calls with a text */
export function createInstantAgent(env, tool = 'echo') {
  return createAgent({
    chatModel: new InstantModel(tool),
    tools: [EchoTools],
    limits: { maxIterations: TOOL_TURNS + 1 },
    config: env,
  });
}

export const micros = (ms) => `${(ms * 1000).toFixed(0)} µs`.padStart(9);
