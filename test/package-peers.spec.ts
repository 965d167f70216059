import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PackedConsumer } from './support/packed-consumer.js';

describe('the package without its optional peers', () => {
  let consumer: PackedConsumer;

  beforeAll(async () => {
    consumer = await PackedConsumer.create('test/fixtures/consumer');
  });
  afterAll(() => consumer.remove());

  it.each([
    ['pg', 'PostgreSQL', '', { JACKDAW_DATABASE_URL: 'postgres://127.0.0.1:1/none' }],
    ['mysql2', 'MariaDB', '', { JACKDAW_DATABASE_URL: 'mysql://127.0.0.1:1/none' }],
    ['ioredis', 'Redis', '', { JACKDAW_SESSION_STORE: 'redis://127.0.0.1:1' }],
  ])('without %s names it and its installation, where %s needs it', (name, purpose, script, env) => {
    const source = script || "const { createAgent } = await import('jackdaw'); await createAgent({});";
    const { code, output } = consumer.node(['--input-type=module', '-e', source], { LLM_PROVIDER: 'offline', ...env });
    expect(code).toBe(1);
    expect(output).toContain(`${purpose} needs the package ${name}, which is not installed: npm install ${name}`);
  });

  it.each([
    ['JackdawHttpModule', '@nestjs/terminus', 'JackdawHttpModule.forRoot({ principal: () => undefined })'],
    [
      'Swagger 2.0 (the document)',
      '@scalar/openapi-upgrader',
      "createAgent({ restTools: [{ document: { swagger: '2.0', info: {}, paths: {} } }] })",
    ],
  ])('without a peer of %s names %s and its installation', (purpose, name, call) => {
    const source = `const { createAgent, JackdawHttpModule } = await import('jackdaw'); await ${call};`;
    const { code, output } = consumer.node(['--input-type=module', '-e', source], { LLM_PROVIDER: 'offline' });
    expect(code).toBe(1);
    expect(output).toContain(`${purpose} needs the package ${name}, which is not installed: npm install ${name}`);
  });

  it('without the packages of scripts names both for an agent with codeMode', () => {
    const source = "const { createAgent } = await import('jackdaw'); await createAgent({ codeMode: true });";
    const { code, output } = consumer.node(['--input-type=module', '-e', source], { LLM_PROVIDER: 'offline' });
    const names = 'quickjs-emscripten-core @jitl/quickjs-wasmfile-release-sync';
    expect(code).toBe(1);
    expect(output).toContain(`codeMode needs packages that are not installed: npm install ${names}`);
  });

  it('shows HTML of a REST tool as it is without html-to-text, and names the package', () => {
    const source = `
      import { createServer } from 'node:http';
      import { createAgent } from 'jackdaw';
      const page = createServer((_, reply) => reply.setHeader('content-type', 'text/html').end('<p>Hi</p>'));
      await new Promise((resolve) => page.listen(0, '127.0.0.1', resolve));
      const url = 'http://127.0.0.1:' + page.address().port + '/';
      const tool = { name: 'page', description: 'A page.', method: 'GET', url, parameters: { type: 'object', properties: {} } };
      const agent = await createAgent({ restTools: [tool] });
      console.log(JSON.stringify(await agent.callTool('page', {})));
      await agent.close();
      page.close();`;
    const env = { LLM_PROVIDER: 'offline', JACKDAW_OUTGOING_ALLOW: '127.0.0.1' };
    const { output } = consumer.node(['--input-type=module', '-e', source], env);
    expect(output).toContain('<p>Hi</p>');
    expect(output).toContain('HTML as plain text needs the package html-to-text');
  });

  it('without the packages of the server names them and their installation', () => {
    const source = "const { serve } = await import('jackdaw'); await serve();";
    const { code, output } = consumer.node(['--input-type=module', '-e', source], { LLM_PROVIDER: 'offline' });
    const names = '@nestjs/platform-fastify @nestjs/terminus fastify nestjs-pino pino pino-http';
    expect(code).toBe(1);
    expect(output).toContain(`serve() needs packages that are not installed: npm install ${names}`);
  });
});
