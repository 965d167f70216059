// A host application with Jackdaw as a module, which closes, and ends, at the signal SIGUSR2.
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { JackdawModule } from '../../dist/index.js';

const { DATABASE_URL, SHUTDOWN_TIMEOUT_MS } = process.env;
const jackdaw = JackdawModule.forRoot({ config: { DATABASE_URL, SHUTDOWN_TIMEOUT_MS } });
const app = await NestFactory.create(jackdaw, new FastifyAdapter(), { logger: ['warn', 'error'] });
await app.listen(0, '127.0.0.1');
const stop = async () => {
  const from = performance.now();
  await app.close();
  process.stdout.write(`closed ${Math.round(performance.now() - from)}\n`, () => process.exit(0));
};
process.once('SIGUSR2', () => void stop());
process.stdout.write(`ready ${await app.getUrl()}\n`);
