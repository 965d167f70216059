import { afterEach, describe, expect, it } from 'vitest';
import { type McpConfig, McpRegistry } from '../src/mcp/index.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { plainWeb } from './support/mcp/scripted-web.js';
import { untilStatus } from './support/mcp/scripted-servers.js';
import type { WebServer } from './support/web-server.js';

const KEY = 'canary-key-of-the-program';
const TOKEN = 'canary-token-as-argument';
/** Writes its lines to stderr, and exits. */
const DYING = `
  for (let n = 1; n <= 20; n++) console.error('line ' + n);
  console.error('bad key ' + process.env.API_KEY + ' or token ' + process.argv.at(-1) + ' in /etc/conf');
  console.error('password=hunter-two-three');
  process.exit(4);`;

let jackdaw: Jackdaw;
let web: WebServer | undefined;
afterEach(async () => {
  await jackdaw.stop();
  await web?.close();
  web = undefined;
});

async function failureOf(server: Omit<McpConfig, 'name' | 'enabled'>): Promise<string> {
  jackdaw = await startJackdaw({ options: { mcpServers: [{ name: 's', enabled: true, ...server }] } });
  await untilStatus(jackdaw, 's', 'failed');
  return jackdaw.app.get(McpRegistry, { strict: false }).get('s').state.error!;
}

describe('a failed connection', () => {
  it('to a program reports its exit code and its last lines, without secrets', async () => {
    const args = ['-e', DYING, '--', '--token', TOKEN];
    const error = await failureOf({ type: 'stdio', stdio: { command: process.execPath, args, env: { API_KEY: KEY } } });
    expect(error).toMatch(/^it exited with 4; the end of its stderr:\n(line \d+\n)+/);
    expect(error).toContain('line 20\nbad key [redacted] or token [redacted] in /etc/conf\npassword=[redacted]');
    expect(error).not.toContain('line 10\n');
    expect(JSON.stringify(jackdaw.log)).not.toMatch(/canary|hunter/);
  });

  it.each([
    [{ status: 500, body: 'out of\n memory; key canary-header-value' }, 'HTTP 500: out of memory; key [redacted]'],
    [{ status: 418, body: '' }, 'HTTP 418'],
    [{ status: 403, body: 'not for you' }, 'it refused the request (403): not for you'],
  ])('over HTTP reports status and body, without secrets: %j', async (answer, error) => {
    web = await plainWeb(answer);
    const headers = { 'x-key': 'canary-header-value' };
    expect(await failureOf({ type: 'http', http: { url: `${web.url}/mcp`, headers } })).toBe(error);
  });

  it('hides a secret at the cut of the last lines of a program', async () => {
    const program = `console.error('x'.repeat(300) + process.env.API_KEY + 'y'.repeat(588)); process.exit(4);`;
    const stdio = { command: process.execPath, args: ['-e', program], env: { API_KEY: KEY } };
    const error = await failureOf({ type: 'stdio', stdio });
    expect(error).toMatch(/stderr:\nxx\[redacted\]y{588}$/);
    expect(error).not.toContain('program');
  });

  it.each([500, 401])('hides a secret at the cut of the body of an answer with %d', async (status) => {
    const body = `${'x'.repeat(490)}canary-header-value`;
    web = await plainWeb({ status, body, headers: { 'www-authenticate': `Own ${body}` } });
    const headers = { 'x-key': 'canary-header-value' };
    const error = await failureOf({ type: 'http', http: { url: `${web.url}/mcp`, headers } });
    expect(error).toMatch(/x{490}\[redacted\]/);
    expect(error + JSON.stringify(jackdaw.log)).not.toContain('canary');
  });

  it('with 401 says how to authenticate', async () => {
    const challenge = 'Bearer realm="birds", resource_metadata="https://mcp.example.com/metadata"';
    web = await plainWeb({ status: 401, body: 'no token', headers: { 'www-authenticate': challenge } });
    const error = await failureOf({ type: 'http', http: { url: `${web.url}/mcp` } });
    expect(error).toMatch(/^it requires authentication \(401\): declare "auth" as \{"type": "bearer"/);
    expect(error).toContain(`WWW-Authenticate: ${challenge}: no token`);
  });
});
