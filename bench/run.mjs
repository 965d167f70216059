// What a run and a step cost, without any model's time: an agent over a chat model that answers at once, journaled in
// a SQLite file with synchronous=FULL.       npm run bench [-- --ms 2000]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ChatModel, createAgent, Tool } from 'jackdaw';

const { values } = parseArgs({ options: { ms: { type: 'string', default: '2000' } } });
const WINDOW_MS = Number(values.ms);
const TOOL_TURNS = 10;
/** A tool turn is a model step and a tool step. */
const STEPS = 2 * TOOL_TURNS;

/** Asks for the tool as often as the question says, then answers. */
class InstantModel extends ChatModel {
  provider = 'instant';
  name = 'instant';
  capabilities = { vision: false, functionCalling: true, jsonMode: false };

  async generate({ messages }) {
    const asked = messages.findLastIndex((message) => message.role === 'user');
    const turns = (messages.length - 1 - asked) / 2;
    const isDone = turns >= Number(messages[asked].content);
    const toolCalls = [{ id: `call_${turns}`, name: 'echo', arguments: '{"text":"hello"}' }];
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
async function measure(agent, query, concurrency, windowMs) {
  let runs = 0;
  const cpu = cpuMs();
  const from = performance.now();
  const until = from + windowMs;
  const worker = async () => {
    while (performance.now() < until) {
      await agent.chat(query);
      runs++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return { cpu: (cpuMs() - cpu) / runs, wall: ((performance.now() - from) / runs) * concurrency };
}

const folder = mkdtempSync(join(tmpdir(), 'jackdaw-bench-'));
const agent = await createAgent({
  chatModel: new InstantModel(),
  tools: [EchoTools],
  limits: { maxIterations: TOOL_TURNS + 1 },
  env: { DATA_DIR: folder },
});
await measure(agent, String(TOOL_TURNS), 8, WINDOW_MS);

const format = (ms) => `${(ms * 1000).toFixed(0)} µs`.padStart(9);
console.log(`Node ${process.version}, SQLite synchronous=FULL, ${WINDOW_MS} ms a measurement\n`);
console.log('                              CPU      wall');
for (const concurrency of [1, 32]) {
  const short = await measure(agent, '0', concurrency, WINDOW_MS);
  const long = await measure(agent, String(TOOL_TURNS), concurrency, WINDOW_MS);
  const label = concurrency === 1 ? 'alone' : `${concurrency} in flight`;
  console.log(`a run without tools, ${label.padEnd(12)}${format(short.cpu)} ${format(short.wall)}`);
  console.log(
    `a further step, ${label.padEnd(17)}${format((long.cpu - short.cpu) / STEPS)} ${format((long.wall - short.wall) / STEPS)}`,
  );
}
await agent.close();
rmSync(folder, { recursive: true, force: true });
