// Uses Jackdaw and never closes it. Prints lines; the process must then end by itself.
import { setTimeout } from 'node:timers/promises';
import { createAgent } from '../../dist/index.js';

const [, , moment, settings] = process.argv;
const { mcpServers, ...env } = JSON.parse(settings);
const options = { config: { LLM_PROVIDER: 'offline', LOG_LEVEL: 'warn', ...env }, builtinTools: true, logger: false };
const mcp = { enabled: true, name: 'local' };

/** A model whose timer does not keep the process alive: only its run does. */
const slow = {
  name: 'slow',
  capabilities: {},
  async generate() {
    await setTimeout(300, undefined, { ref: false });
    const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
    return { message: { role: 'assistant', content: 'Late.' }, finishReason: 'stop', usage, model: 'slow' };
  },
  async *stream() {
    yield { type: 'finish', result: await slow.generate() };
  },
};

function print(line) {
  process.stdout.write(`${line}\n`);
}

const cases = {
  async idle() {
    const agent = await createAgent({ ...options, ...(mcpServers && { mcpServers, mcp }) });
    print((await agent.chat('What is 6*7?')).content);
  },
  async open() {
    const agent = await createAgent({ ...options, chatModel: slow });
    void agent.chat('x').then(({ content }) => print(content));
  },
  async keep() {
    const agent = await createAgent({ ...options, ...(!env.DATABASE_URL && { keepAlive: true }) });
    print('alive');
    await setTimeout(300, undefined, { ref: false });
    await agent.close();
  },
};
process.once('exit', (code) => print(`exit ${code}`));
await cases[moment]();
