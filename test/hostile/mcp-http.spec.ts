import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool } from '../support/direct-calls.js';
import { startJackdaw, type Jackdaw } from '../support/jackdaw.js';
import {
  type Declared,
  type Era,
  HostileWeb,
  PATIENCE_MS,
  SHORT_TIMEOUT_MS,
  strike,
  striker,
} from '../support/mcp/hostile-servers.js';
import { untilStatus } from '../support/mcp/scripted-servers.js';

/** A low message limit, so that an oversized message is detected soon. */
const SHORT_MESSAGES = { MCP_MAX_MESSAGE_BYTES: '1048576' };
/** By failure mode: the error code of a call and a pattern of its message. */
const STRIKES: readonly (readonly [mode: string, code: string, why: RegExp])[] = [
  ['exit', 'TOOL_FAILED', /it closed the connection/],
  ['hang', 'TOOL_TIMEOUT', /./],
  ['huge', 'TOOL_FAILED', /is longer than the limit of \d+ bytes/],
  ['huge-event', 'TOOL_FAILED', /before the response was complete/],
  ['endless-line', 'TOOL_FAILED', /before the response was complete/],
  ['endless-body', 'TOOL_FAILED', /is longer than the limit of \d+ bytes/],
  ['progress', 'TOOL_TIMEOUT', /./],
  ['notifications', 'TOOL_TIMEOUT', /./],
  ['requests', 'TOOL_TIMEOUT', /./],
  ['junk', 'TOOL_TIMEOUT', /./],
  ['foreign', 'TOOL_TIMEOUT', /./],
  ['wrong-ids', 'TOOL_TIMEOUT', /./],
  ['bad-json', 'TOOL_FAILED', /JSON/],
  ['drip', 'TOOL_TIMEOUT', /./],
  ['drip-events', 'TOOL_TIMEOUT', /./],
  ['cut', 'TOOL_FAILED', /before the response was complete/],
  ['end', 'TOOL_FAILED', /before the response was complete/],
  ['resume', 'TOOL_TIMEOUT', /./],
  ['redirect', 'TOOL_FAILED', /Redirect to .* not followed/],
  ['redirect-loop', 'TOOL_FAILED', /Redirect to .* not followed/],
  ['wrong-type', 'TOOL_FAILED', /text\/html/],
  ['endless-type', 'TOOL_FAILED', /text\/html/],
  ['endless-fault', 'TOOL_FAILED', /./],
  ['gzip-bomb', 'TOOL_FAILED', /is longer than the limit of \d+ bytes/],
  ['huge-headers', 'TOOL_FAILED', /headers/],
  ['no-object', 'TOOL_FAILED', /Its result is of type string instead of an object/],
  ['nonsense', 'TOOL_FAILED', /Invalid result/],
  ['garbage', 'TOOL_FAILED', /does not answer in HTTP|the connection failed/],
];
const TIMED_OUT = new Set(STRIKES.flatMap(([mode, code]) => (code === 'TOOL_TIMEOUT' ? [mode] : [])));
const timed = (server: Declared) => (TIMED_OUT.has(server.name) ? { ...server, timeoutMs: SHORT_TIMEOUT_MS } : server);
const MODES = STRIKES.map(([mode]) => mode);

describe.each<Era>(['legacy', 'modern'])('a misbehaving HTTP server in the %s protocol', (era) => {
  let jackdaw: Jackdaw;
  let struck: ReturnType<typeof striker>;
  let web: HostileWeb;
  beforeAll(async () => {
    web = await HostileWeb.start();
    const modes = ['steady', 'duplicates', 'never-ends', ...MODES];
    jackdaw = await startJackdaw({
      env: SHORT_MESSAGES,
      options: { mcpServers: modes.map((mode) => timed(web.server(mode, era))) },
    });
    await Promise.all(modes.map((mode) => untilStatus(jackdaw, mode)));
    struck = striker(jackdaw, TIMED_OUT);
  });
  afterAll(() => web.stop());

  it.each(STRIKES)('fails alone and within the time limit: %s', async (mode, code, why) => {
    const { body, took, others } = await struck(mode);
    expect(body).toMatchObject({ code, error: expect.stringMatching(why) });
    expect(String(body['error']).length).toBeLessThan(5000);
    expect(took).toBeLessThan(TIMED_OUT.has(mode) ? PATIENCE_MS : 2 * PATIENCE_MS);
    expect(others).not.toContain(false);
  });

  it('answers each call once despite duplicate responses: duplicates', async () => {
    expect((await strike(jackdaw, 'duplicates')).body).toMatchObject({ success: true, result: '[No output]' });
    const { body } = await callTool(jackdaw, 'duplicates__echo', { arguments: { text: 'own' } });
    expect(body).toMatchObject({ result: 'own' });
  });

  it('completes a call although its stream never ends: never-ends', async () => {
    for (let n = 0; n < 3; n++) expect((await strike(jackdaw, 'never-ends')).body).toMatchObject({ success: true });
  });

  it('has no connection for a finished call and gets a limited number of resumptions', async () => {
    const busy = ['drip', 'drip-events', 'never-ends', 'resume', 'hang', 'progress'];
    await web.until((sockets) => busy.every((mode) => (sockets[mode] ?? 0) <= 1));
    // At most one resumption per second, although the server permits an immediate one.
    expect((await web.sockets())['resumptions'] ?? 0).toBeLessThan(PATIENCE_MS / 100);
  });

  it('has no connection after the end of the application', async () => {
    await jackdaw.stop();
    expect(await web.until((sockets) => MODES.every((mode) => (sockets[mode] ?? 0) === 0))).toMatchObject({ hang: 0 });
  });
});
