import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { McpClients, ToolRegistry } from '../src/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { describeClients, newClient, oldClient, runIdOf, textOf, type AnyClient } from './support/mcp-clients.js';
import { McpTestTools } from './support/mcp.tool.js';
import { WaitingTools } from './support/waiting.tool.js';
import { WaitingRun } from './support/waiting-run.js';

const tools = new McpTestTools();
const waiting = new WaitingTools();
let llm: FakeLlm;
let jackdaw: Jackdaw;
beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({
    llm,
    tools: [tools, waiting],
    options: { securityPolicy: { tools: [{ deny: ['hurry'] }] } },
  });
  tools.clients = jackdaw.app.get(McpClients);
});
beforeEach(() => {
  llm.reset();
  waiting.done.length = 0;
  tools.held = gate();
  tools.aborted = gate();
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

describeClients(
  () => jackdaw.url,
  (client, connect) => {
    const call = (name: string, args: Record<string, unknown> = {}) => client().callTool({ name, arguments: args });

    it('lists the tools that its policy allows, with their effects', async () => {
      const { tools: listed } = await client().listTools();
      const byName = Object.fromEntries(listed.map((tool) => [tool.name, tool]));
      expect(Object.keys(byName)).toEqual(expect.arrayContaining(['calculator', 'weigh', 'pay', 'ask_default']));
      expect(byName['hurry']).toBeUndefined();
      expect(byName['weigh']).toMatchObject({
        description: 'Weighs a thing.',
        inputSchema: { type: 'object', required: ['thing'], additionalProperties: false },
        outputSchema: { type: 'object', required: ['grams'] },
        annotations: { readOnlyHint: true, idempotentHint: true, destructiveHint: false, openWorldHint: false },
      });
      const hints = (name: string) => byName[name]?.annotations;
      expect(hints('count')).toMatchObject({ readOnlyHint: false, idempotentHint: true, destructiveHint: false });
      expect(hints('pay')).toMatchObject({ readOnlyHint: false, idempotentHint: false, destructiveHint: true });
      expect(byName['read_page']).toMatchObject({ _meta: { 'jackdaw/untrusted': true } });
    });

    it('receives texts, values and images, each call a run in the journal', async () => {
      const weighed = await call('weigh', { thing: 'salt' });
      expect(weighed).toMatchObject({
        structuredContent: { grams: 4 },
        content: [{ type: 'text', text: '{"grams":4}' }],
      });
      expect(textOf(await call('count'))).toBe('[1,2,3]');
      expect(await call('draw')).toMatchObject({
        content: [{ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }],
      });
      expect(await call('paint')).toMatchObject({
        content: [
          { type: 'text', text: '{"title":"A tree"}' },
          { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
          { type: 'resource_link', uri: 'https://example.com/tree.png' },
        ],
        structuredContent: { title: 'A tree' },
      });
      expect(await call('read_page')).toMatchObject({ _meta: { 'jackdaw/untrusted': true } });
      const { body } = await jackdaw.get(`/api/runs/${runIdOf(weighed)}`);
      expect(body).toMatchObject({ agent: 'tool:weigh', status: 'completed', output: { grams: 4 } });
    });

    it('receives errors as results, and an unknown tool as a protocol error', async () => {
      const failed = await call('weigh', { thing: 'nothing' });
      expect([failed.isError, textOf(failed)]).toEqual([true, 'the scales are empty']);
      const invalid = await call('weigh', { stuff: 1 });
      expect([invalid.isError, textOf(invalid)]).toEqual([true, expect.stringContaining('thing')]);
      await expect(call('no_such')).rejects.toMatchObject({
        code: -32_602,
        message: expect.stringContaining('no_such'),
      });
      const denied = await call('hurry', { text: 'x' });
      expect([denied.isError, textOf(denied)]).toEqual([true, expect.stringContaining('security policy')]);
    });

    it('receives the progress of a call with its messages', async () => {
      const received: unknown[] = [];
      const result = await client().callTool({ name: 'walk', arguments: {} }, ...progressTo(client(), received));
      expect(textOf(result)).toBe('arrived');
      expect(received).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` })));
    });

    it('cancels a call by aborting it', async () => {
      const controller = new AbortController();
      const called = client().callTool({ name: 'hold', arguments: {} }, ...signalTo(client(), controller.signal));
      const outcome = called.catch((error: unknown) => error);
      await tools.held.opened;
      controller.abort('enough');
      expect(await outcome).toBeInstanceOf(Error);
      await tools.aborted.opened;
      const events = await jackdaw.events(tools.heldRun);
      expect(events.at(-1)).toMatchObject({ event: 'run.cancelled' });
    });

    it('is informed that a call waits for a person, and reads the outcome later', async () => {
      const result = await call('pay', { to: 'bob', amount: 5 });
      expect([result.isError, textOf(result)]).toEqual([true, expect.stringContaining('waits for a person (approval')]);
      expect(waiting.done).toEqual([]);
      await new WaitingRun(jackdaw, runIdOf(result)).after('approve');
      const uri = `jackdaw://runs/${runIdOf(result)}`;
      const { contents } = await client().readResource({ uri });
      expect(JSON.parse(String(contents[0] && 'text' in contents[0] && contents[0].text))).toMatchObject({
        status: 'completed',
        output: 'paid 5 to bob',
      });
    });

    it('is informed of a question in the same way when it cannot ask its user', async () => {
      const result = await call('choose', { text: 'rome' });
      expect([result.isError, textOf(result)]).toEqual([true, expect.stringContaining('Which one for rome?')]);
    });

    it('asks its user a tool’s question, and again after an invalid answer', async () => {
      const answers = ['XX9', 'KL2'];
      const asked: string[] = [];
      const able = await connect(jackdaw.url, {
        elicit: (message) => (asked.push(message), { action: 'accept', content: { answer: answers.shift() ?? '' } }),
      });
      const result = await able.callTool({ name: 'choose', arguments: { text: 'rome' } });
      expect(textOf(result)).toBe('rome: KL2, says local');
      expect(asked).toEqual(['Which one for rome?', 'Which one for rome?']);
      await able.close();
    });

    it('cancels the call when its user declines', async () => {
      const able = await connect(jackdaw.url, { elicit: () => ({ action: 'decline' }) });
      const result = await able.callTool({ name: 'choose', arguments: { text: 'rome' } });
      expect([result.isError, await statusOf(runIdOf(result))]).toEqual([true, 'cancelled']);
      await able.close();
    });

    it('answers a tool that asks the client itself', async () => {
      const able = await connect(jackdaw.url, {
        elicit: () => ({ action: 'accept', content: { name: 'Ann' } }),
        sample: () => 'a joke',
      });
      const result = await able.callTool({ name: 'poll', arguments: {} });
      expect(result.structuredContent).toMatchObject({
        name: { action: 'accept', content: { name: 'Ann' } },
        joke: { content: { type: 'text', text: 'a joke' } },
      });
      await able.close();
    });

    it('asks an agent, receives its progress, and continues in its session', async () => {
      llm.reply({ calls: [{ name: 'weigh', arguments: { thing: 'salt' } }] });
      llm.reply({ text: 'four grams' });
      const received: { message?: string }[] = [];
      const asked = await client().callTool(
        { name: 'ask_default', arguments: { message: 'How heavy?' } },
        ...progressTo(client(), received),
      );
      expect(textOf(asked)).toBe('four grams');
      expect(received.map(({ message }) => message)).toEqual(
        expect.arrayContaining(['calls weigh', 'weigh is completed', 'has the answer']),
      );
      const { session_id } = asked.structuredContent as { session_id: string };
      llm.reply({ text: 'as I said' });
      const again = await call('ask_default', { message: 'Again?', session_id });
      expect(again.structuredContent).toMatchObject({ answer: 'as I said', session_id });
      expect(JSON.stringify(llm.requests.at(-1))).toContain('How heavy?');
      const invalid = await call('ask_default', { question: 'x' });
      expect([invalid.isError, textOf(invalid)]).toEqual([true, expect.stringContaining('message')]);
    });

    it('sees no tool that is switched off', async () => {
      await jackdaw.post('/api/tools/count/disable');
      const { tools: listed } = await client().listTools();
      expect(listed.map(({ name }) => name)).not.toContain('count');
      await expect(call('count')).rejects.toMatchObject({ code: -32_602 });
      await jackdaw.post('/api/tools/count/enable');
    });
  },
);

describe('a change of the tools', () => {
  it('is notified to a client with a session, on its stream', async () => {
    const received = gate();
    const streaming = gate();
    const client = await oldClient(jackdaw.url, { onStream: streaming.open });
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => received.open());
    await streaming.opened;
    const registry = jackdaw.app.get(ToolRegistry);
    registry.register({ name: 'passing', description: 'Comes and goes.', handler: () => 'there' });
    expect(registry.unregister('passing')).toBe(true);
    await received.opened;
    await client.close();
  });

  it('is notified to a stream of changes, as is a switch', async () => {
    const received = gate();
    const client = await newClient(jackdaw.url);
    client.setNotificationHandler('notifications/tools/list_changed', () => received.open());
    const subscription = await client.listen({ toolsListChanged: true });
    expect((await jackdaw.post('/api/tools/count/disable')).status).toBe(204);
    await received.opened;
    await jackdaw.post('/api/tools/count/enable');
    await subscription.close();
    await client.close();
  });
});

describe('a requestState', () => {
  it('is refused if it was not issued, or names another call', async () => {
    const asked = await jackdaw.post('/api/tools/choose/call', { arguments: { text: 'x' } });
    const runId = String(asked.body['run_id']);
    for (const requestState of ['nonsense', `${runId}/input:1:1-X`, 'nowhere/input:1:1']) {
      expect(await stateless('choose', requestState)).toMatchObject({ error: { code: -32_602 } });
    }
    expect(await stateless('weigh', `${runId}/input:1:1`)).toMatchObject({ error: { code: -32_602 } });
    expect(await stateless('choose', `${runId}/input:1:1`)).toMatchObject({
      result: { resultType: 'input_required', requestState: `${runId}/input:1:1` },
    });
  });
});

async function statusOf(runId: string): Promise<unknown> {
  return (await jackdaw.get(`/api/runs/${runId}`)).body['status'];
}

/** A call in the newest protocol, written by hand. */
async function stateless(name: string, requestState: string): Promise<unknown> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  };
  const params = { name, arguments: { text: 'x', thing: 'x' }, requestState, _meta: meta };
  const { body } = await jackdaw.post(
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
  );
  return body;
}

/** The two SDK versions take the options of a call in different places. */
function progressTo(client: AnyClient, received: unknown[]): never[] {
  return optionsFor(client, { onprogress: (progress: unknown) => received.push(progress) });
}

function signalTo(client: AnyClient, signal: AbortSignal): never[] {
  return optionsFor(client, { signal });
}

function optionsFor(client: AnyClient, options: object): never[] {
  const isNew = 'listen' in client;
  return (isNew ? [options] : [undefined, options]) as never[];
}
