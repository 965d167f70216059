import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AgentService, type ChatModel, JackdawModule } from 'jackdaw';
import { VERSION } from './version.js';

const ANN = { id: 'ann', tenant: 'default', roles: ['user'] };
/** Answers at once, except to `Wait.`, whose run stays open. */
const chatModel = {
  name: 'slow',
  capabilities: {},
  generate: ({ messages }: { messages: { content: string }[] }) =>
    messages.at(-1)?.content === 'Wait.'
      ? new Promise(() => undefined)
      : Promise.resolve({
          message: { role: 'assistant', content: 'Here.', toolCalls: [] },
          finishReason: 'stop',
          model: 'slow',
        }),
} as unknown as ChatModel;
const config = { DATA_DIR: process.env['HOST_DATA']!, LLM_PROVIDER: 'offline', SHUTDOWN_TIMEOUT_MS: '2000' };

@Module({ imports: [JackdawModule.forRoot({ config, chatModel, builtinTools: false, recovery: 'manual' })] })
class AppModule {}

process.on('SIGTERM', () => console.log(`stopping ${process.pid} ${Date.now()}`));
process.on('exit', () => console.log(`stopped ${process.pid} ${Date.now()}`));
const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
app.enableShutdownHooks();
await app.listen(0, '127.0.0.1');
const agents = app.get(AgentService);
const { result } = await agents.chat(ANN, { query: 'Hello.' });
if (VERSION === 'busy') await agents.submit(ANN, { query: 'Wait.' });
console.log(`${VERSION} ${result} ${process.pid}`);
