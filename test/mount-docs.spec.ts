import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PackedConsumer } from './support/packed-consumer.js';
import { PLATFORMS, type Platform } from './support/mounted-host.js';
import { snippetsOf } from './support/snippets.js';

const HTTP = snippetsOf('docs/http-module.md')[0]!;
const MCP = snippetsOf('docs/mcp-server.md').find((code) => code.includes('JackdawMcpModule'))!;

/** Requests to the application of the snippet, as its reader would send them. */
const ASK = `
const authorization = 'Bearer token-of-ann';
const ask = async (headers: Record<string, string>): Promise<string> => {
  const response = await fetch(\`\${await app.getUrl()}/backend/ai/agent/chat\`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: '{"query":"What is 6 * 7?"}',
  });
  return \`\${response.status} \${await response.text()}\`;
};
console.log(await ask({ authorization }), await ask({}));
await app.close();
`;
const CALL = `
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
const client = new Client({ name: 'reader', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
const requestInit = { headers: { authorization: 'Bearer token-of-ann' } };
await client.connect(new StreamableHTTPClientTransport(new URL(\`\${await app.getUrl()}/mcp\`), { requestInit }));
console.log(JSON.stringify(await client.callTool({ name: 'lamps', arguments: {} })));
await client.close();
await app.close();
`;

/** Optional peers of ours that the routes need. */
const MOUNTING = ['fastify', '@nestjs/terminus', '@modelcontextprotocol/server', '@modelcontextprotocol/node'];

/** The documented programs with the packed package, in a project with its dependencies and one platform of Nest. */
describe.each(PLATFORMS)('a host on %s with the packed package', (platform) => {
  let consumer: PackedConsumer;
  beforeAll(async () => {
    consumer = await PackedConsumer.create('test/fixtures/host', [`@nestjs/platform-${platform}`, ...MOUNTING]);
    writeFileSync(join(consumer.folder, 'http.ts'), onPlatform(HTTP, platform) + ASK);
    writeFileSync(join(consumer.folder, 'mcp.ts'), onPlatform(MCP, platform) + CALL);
  });
  afterAll(() => consumer.remove());

  it('compiles in strict TypeScript', () => {
    expect(consumer.compile('--skipLibCheck')).toEqual({ code: 0, output: '' });
  });

  it('serves the REST API as documented', () => {
    const { code, output } = consumer.node(['http.js'], { LLM_PROVIDER: 'offline', PORT: '0' });
    expect(output).toMatch(/^200 .*"result":"[^"]*42.* 403 /m);
    expect(code).toBe(0);
  });

  it('serves an MCP client as documented', () => {
    const { code, output } = consumer.node(['mcp.js'], { LLM_PROVIDER: 'offline', PORT: '0' });
    expect(output).toContain('"structuredContent":{"lamps":7}');
    expect(code).toBe(0);
  });
});

/** Express is the default platform of Nest. */
function onPlatform(code: string, platform: Platform): string {
  if (platform === 'express') return code;
  const adapted = code.replace('NestFactory.create(AppModule)', 'NestFactory.create(AppModule, new FastifyAdapter())');
  return `import { FastifyAdapter } from '@nestjs/platform-fastify';\n${adapted}`;
}
