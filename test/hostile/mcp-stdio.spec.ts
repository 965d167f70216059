import { beforeAll, describe, expect, it } from 'vitest';
import { startJackdaw, type Jackdaw } from '../support/jackdaw.js';
import {
  type Declared,
  type Era,
  hostile,
  PATIENCE_MS,
  SHORT_TIMEOUT_MS,
  strike,
  striker,
} from '../support/mcp/hostile-servers.js';
import { processesWith } from '../support/mcp/process-list.js';
import { untilStatus } from '../support/mcp/scripted-servers.js';
import { callTool } from '../support/direct-calls.js';

/** A low message limit, so that an oversized message is detected soon. */
const SHORT_MESSAGES = { MCP_MAX_MESSAGE_BYTES: '1048576' };
/** By failure mode: the error code of a call and a pattern of its message. */
const STRIKES: readonly (readonly [mode: string, code: string, why: RegExp])[] = [
  ['exit', 'TOOL_FAILED', /it exited with 7/],
  ['hang', 'TOOL_TIMEOUT', /./],
  ['huge', 'TOOL_FAILED', /a message of more than \d+ bytes/],
  ['endless-line', 'TOOL_FAILED', /a message of more than \d+ bytes/],
  ['progress', 'TOOL_TIMEOUT', /./],
  ['notifications', 'TOOL_TIMEOUT', /./],
  ['requests', 'TOOL_TIMEOUT', /./],
  ['junk', 'TOOL_TIMEOUT', /./],
  ['foreign', 'TOOL_TIMEOUT', /./],
  ['wrong-ids', 'TOOL_TIMEOUT', /./],
  ['no-object', 'TOOL_FAILED', /Its result is of type string instead of an object/],
  ['nonsense', 'TOOL_FAILED', /Invalid result/],
  ['deep', 'TOOL_FAILED', /Its result is a list instead of an object/],
  ['close-stdout', 'TOOL_FAILED', /it closed its stdout/],
  ['close-stdin', 'TOOL_TIMEOUT', /./],
  ['freeze', 'TOOL_TIMEOUT', /./],
  ['deaf', 'TOOL_TIMEOUT', /./],
  ['leave-grandchild', 'TOOL_FAILED', /it exited with 7/],
  ['leave-daemon', 'TOOL_FAILED', /it exited with 7/],
];
const TIMED_OUT = new Set(STRIKES.flatMap(([mode, code]) => (code === 'TOOL_TIMEOUT' ? [mode] : [])));
const timed = (server: Declared) => (TIMED_OUT.has(server.name) ? { ...server, timeoutMs: SHORT_TIMEOUT_MS } : server);

describe.each<Era>(['legacy', 'modern'])('a misbehaving MCP program in the %s protocol', (era) => {
  /** Marker by which the list of processes shows the processes of this server. */
  const place = `hostile-${era}-${process.pid}`;
  let jackdaw: Jackdaw;
  let struck: ReturnType<typeof striker>;
  beforeAll(async () => {
    const modes = ['steady', 'stderr-flood', 'duplicates', ...STRIKES.map(([mode]) => mode)];
    jackdaw = await startJackdaw({
      env: SHORT_MESSAGES,
      options: { mcpServers: modes.map((mode) => timed(hostile(mode, era, place))) },
    });
    await Promise.all(modes.map((mode) => untilStatus(jackdaw, mode)));
    struck = striker(jackdaw, TIMED_OUT);
  });

  it.each(STRIKES)('fails alone and within the time limit: %s', async (mode, code, why) => {
    const { body, took, others } = await struck(mode);
    expect(body).toMatchObject({ code, error: expect.stringMatching(why) });
    expect(took).toBeLessThan(TIMED_OUT.has(mode) ? PATIENCE_MS : 2 * PATIENCE_MS);
    expect(others).not.toContain(false);
  });

  it('can still answer while it floods stderr: stderr-flood', async () => {
    const { body, others } = await strike(jackdaw, 'stderr-flood');
    expect(body).toEqual(expect.objectContaining({ success: true, result: '[No output]' }));
    expect(others).not.toContain(false);
  });

  it('answers each call once despite duplicate responses: duplicates', async () => {
    expect((await strike(jackdaw, 'duplicates')).body).toMatchObject({ success: true, result: '[No output]' });
    const { body } = await callTool(jackdaw, 'duplicates__echo', { arguments: { text: 'own' } });
    expect(body).toMatchObject({ result: 'own' });
  });

  it('ends with the application, including its child processes', async () => {
    expect(processesWith(place)).not.toEqual([]);
    await jackdaw.stop();
    expect(processesWith(place)).toEqual([]);
  });
});
