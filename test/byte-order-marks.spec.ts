import { describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { parseAgent } from '../src/index.js';
import { createModelRegistry } from '../src/llm/model-registry.factory.js';
import { serveStdio } from '../src/server/mcp-bootstrap.js';
import { LineParser } from '../src/mcp/process/paced-lines.parser.js';
import { parseMessage } from '../src/mcp/process/message.parser.js';
import { RestToolLoader } from '../src/rest-tool/rest-tool.loader.js';
import type { RestToolRegistry } from '../src/rest-tool/rest-tool.registry.js';
import { loadOpenApi } from '../src/rest-tool/openapi/openapi-document.loader.js';
import { loadPolicy } from '../src/tool-policy/security-policies.registry.js';
import { loadConfig } from '../src/config/index.js';
import type { ToolConfig } from '../src/config/namespaces/index.js';
import { readMcpServers } from '../src/config/mcp-servers.loader.js';
import { newFolder } from './support/jackdaw.js';

Logger.overrideLogger(false);
const MARK = '\uFEFF';
const folder = mkdtempSync(join(tmpdir(), 'jackdaw-test-'));

function file(name: string, content: string | Uint8Array): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

const AGENT =
  '<?xml version="1.0" encoding="UTF-8"?>\r\n<agent name="a"><llm api-type="offline"/><prompt src="p.md"/></agent>';
const parse = (prompt: string | Uint8Array) => {
  file('p.md', prompt);
  return parseAgent(MARK + AGENT, { folder });
};

function mcpServers(path: string): unknown {
  const read = readMcpServers({}, path, true);
  if (read.mistakes.length > 0) throw new Error(read.mistakes.join('\n'));
  return read.file.servers;
}

async function restTools(path: string): Promise<void> {
  const registry = {} as RestToolRegistry;
  const loader = new RestToolLoader({ restFiles: [path] } as unknown as ToolConfig, registry, { tools: [] });
  await loader.onModuleInit();
}

const OPENAPI_JSON = '{"openapi": "3.1.0",\r\n"info": {"title": "t", "version": "1"}, "paths": {}}';
const OPENAPI_YAML = 'openapi: 3.1.0\r\ninfo: {title: t, version: "1"}\r\npaths: {}\r\n';
const READERS: readonly (readonly [string, string, (path: string) => unknown])[] = [
  ['an OpenAPI document of JSON', OPENAPI_JSON, loadOpenApi],
  ['an OpenAPI document of YAML', OPENAPI_YAML, loadOpenApi],
  ['the file of MCP servers', '{"mcpServers": {}}', async (path) => mcpServers(path)],
  ['a file of REST tools', '{"tools": []}', restTools],
  ['a security policy', '{"tools": [{ "deny": ["x_*"] }]}', async (path) => loadPolicy(path)],
];

describe('a byte order mark', () => {
  it.each(READERS)('is ignored at the start of %s', async (_what, text, read) => {
    const plain = await read(file('plain', text));
    expect(await read(file('marked', MARK + text))).toEqual(plain);
    await expect(read(file('wide.txt', Buffer.from(MARK + text, 'utf16le')))).rejects.toThrow(/wide\.txt.*UTF-16/s);
  });

  it('is ignored in an agent file and in the prompt file that it includes', () => {
    expect(parse(`${MARK}Be brief.`).instructions).toBe('Be brief.');
    expect(() => parse(Buffer.from(`${MARK}Be brief.`, 'utf16le'))).toThrow(/agent\.xml:2.*UTF-16/s);
  });

  it("is ignored in a provider's reply", async () => {
    const reply = { choices: [{ message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }] };
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      request.resume().on('end', () => response.end(MARK + JSON.stringify(reply)));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const registry = createModelRegistry();
    const model = registry.create({ provider: 'ollama', baseUrl, timeoutMs: 30_000 });
    const { message } = await model.generate({ messages: [{ role: 'user', content: 'x' }] });
    await registry.close();
    server.close();
    expect(message.content).toBe('ok');
  });

  it('is ignored in messages of an MCP program', async () => {
    const text = JSON.stringify(MARK + '{"jsonrpc":"2.0","id":1,"result":{}}\n');
    const program = spawn(process.execPath, ['-e', `process.stdout.write(${text})`]);
    const parser = new LineParser(1000);
    const messages: unknown[] = [];
    program.stdout.on('data', (chunk: Buffer) => messages.push(...[...parser.push(chunk)].map(parseMessage)));
    await once(program, 'close');
    expect(messages).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  });

  it('is ignored in messages of an MCP client with any split into chunks', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const { config } = loadConfig({ env: { DATA_DIR: newFolder(), LOG_LEVEL: 'silent', LLM_PROVIDER: 'offline' } });
    const served = serveStdio(input, output, { config, logStream: { write: () => undefined } });
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
    const bytes = Buffer.from(`${MARK}${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
    for (const at of [0, 1, 2]) input.write(bytes.subarray(at, at + 1));
    input.write(bytes.subarray(3));
    const [line] = (await once(output, 'data')) as [Buffer];
    expect(JSON.parse(String(line))).toMatchObject({ id: 1, result: { protocolVersion: '2025-11-25' } });
    input.end();
    await served;
  });
});
