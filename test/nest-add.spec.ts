import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generateNestApp, NEST } from './support/generated-nest-app.js';
import { PackedConsumer } from './support/packed-consumer.js';
import { ServerProcess } from './support/process.js';

const PACKAGES = ['@nestjs/cli', '@nestjs/schematics', '@angular-devkit/schematics-cli', 'vitest', '@types/express'];

describe('nest add jackdaw, in an application of nest new', () => {
  let generated: string;
  let consumer: PackedConsumer;

  beforeAll(async () => {
    generated = await generateNestApp('esm', 'express');
    consumer = await PackedConsumer.create(generated, PACKAGES);
  });
  afterAll(() => {
    consumer.remove();
    rmSync(dirname(generated), { recursive: true, force: true });
  });

  const add = () => consumer.node([NEST, 'add', 'jackdaw', '--skip-install']);

  it('adds an agent that answers over HTTP', async () => {
    expect(add()).toMatchObject({ code: 0, output: expect.stringContaining('curl localhost:3000/assistant') });
    expect(consumer.node([NEST, 'build'])).toEqual({ code: 0, output: '' });
    const server = ServerProcess.start('dist/main.js', { LLM_PROVIDER: 'offline' }, [], consumer.folder);
    await server.waitForOutput(/Listens at \S+/);
    const url = /Listens at (\S+)/.exec(server.output)![1]!;
    const response = await fetch(`${url}/assistant`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ question: 'call weather Oslo' }),
    });
    expect(await response.json()).toEqual({ answer: 'It rains in Oslo.', runId: expect.any(String) });
    expect(await server.kill('SIGTERM')).toMatchObject({ signal: 'SIGTERM' });
  });

  it('changes nothing when it is called again', () => {
    const module = join(consumer.folder, 'src/app.module.ts');
    const before = readFileSync(module, 'utf8');
    expect(before).toContain('imports: [AssistantModule],');
    expect(add()).toMatchObject({ code: 1, output: expect.stringContaining('already imports an AssistantModule') });
    expect(readFileSync(module, 'utf8')).toBe(before);
  });
});
