// A host application with Jackdaw that enables its shutdown hooks before or after the start, and has a run whose model answers only
// in a process with the argument `answer`. Prints `ready`, then the outcome of each run; a signal ends it.
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AgentService, JackdawModule } from '../../dist/index.js';

const [, , dataDir, order, ...known] = process.argv;
const ann = { id: 'ann', tenant: 'default', roles: ['user'] };
const answer = { role: 'assistant', content: 'Resumed.' };
const chatModel = {
  name: 'slow',
  capabilities: {},
  async generate({ messages }) {
    if (known.length > 0 && messages.at(-1).content !== 'Wait.') return { message: answer, finishReason: 'stop' };
    process.stdout.write('called\n');
    return new Promise(() => undefined);
  },
};
const config = { DATA_DIR: dataDir, LLM_PROVIDER: 'offline', SHUTDOWN_TIMEOUT_MS: '1' };

class AppModule {}
Module({ imports: [JackdawModule.forRoot({ config, chatModel, builtinTools: false })] })(AppModule);

const app = await NestFactory.create(AppModule, { logger: ['error'] });
if (order === 'before') app.enableShutdownHooks();
await app.listen(0, '127.0.0.1');
const agents = app.get(AgentService);
for (const id of known) process.stdout.write(`${(await agents.outcome(ann, id)).result}\n`);
const { id } = await agents.submit(ann, { query: known.length > 0 ? 'Wait.' : 'Go.' });
if (order === 'after') app.enableShutdownHooks();
process.stdout.write(`ready ${id}\n`);
