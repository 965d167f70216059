import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import {
  enhance,
  suspend,
  ToolRegistry,
  type CallOptions,
  type ChatRequest,
  type ChatResult,
  type ChatStreamPart,
  type Tool,
  type ToolRegistration,
} from '../src/index.js';
import { createModelRegistry } from '../src/llm/model-registry.factory.js';
import { ask, modelOf, textsOf, toRequest, CALL_METHODS } from './support/enhanced-calls.js';
import type { ToolRequest } from '../src/tool/call/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate } from './support/jackdaw.js';
import { calls, says, ScriptedChatModel } from './support/scripted-chat-model.js';

Logger.overrideLogger(false);

const CALL = { calls: [{ name: 'act', arguments: {} }] };

let llm: FakeLlm;
const registry = createModelRegistry();
beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(() => llm.reset());
afterAll(async () => {
  await registry.close();
  await llm.close();
});

function act(handler: ToolRegistration['handler'], more: Partial<ToolRegistration> = {}): ToolRegistration {
  return { name: 'act', description: 'Acts.', handler, ...more };
}

class NotingModel extends ScriptedChatModel {
  readonly options: (CallOptions | undefined)[] = [];

  override generate(request: ChatRequest, options?: CallOptions): Promise<ChatResult> {
    this.options.push(options);
    return super.generate(request, options);
  }

  override stream(request: ChatRequest, options?: CallOptions): AsyncIterable<ChatStreamPart> {
    this.options.push(options);
    return super.stream(request, options);
  }
}

function lastResult(): unknown {
  return llm.lastRequest.messages.at(-1)?.content;
}

describe.each(CALL_METHODS)('an enhanced model asked by %s', (method) => {
  it("stops with the signal's reason during a tool call and aborts the tool's signal", async () => {
    const started = gate();
    let heard: AbortSignal | undefined;
    const tool = act((_args: never, { signal }: ToolRequest) => {
      heard = signal;
      started.open();
      return new Promise(() => undefined);
    });
    const controller = new AbortController();
    const reason = new Error('enough');
    llm.reply(CALL);
    const asked = ask(enhance(modelOf(registry, llm), [tool]), method, 'go', { signal: controller.signal });
    await started.opened;
    controller.abort(reason);
    await expect(asked).rejects.toBe(reason);
    expect(heard?.aborted).toBe(true);
    expect(llm.requests).toHaveLength(1);
  });

  it("stops with the signal's reason during a reply and aborts the provider's request", async () => {
    const controller = new AbortController();
    llm.reply(CALL, { hang: true });
    const tool = act(() => 'done');
    const asked = ask(enhance(modelOf(registry, llm), [tool]), method, 'go', { signal: controller.signal });
    await llm.waitForRequest(2);
    controller.abort();
    await expect(asked).rejects.toBe(controller.signal.reason);
    await llm.waitForAbort();
  });

  it("stops with the signal's reason while it loads its tools", async () => {
    const controller = new AbortController();
    const started = gate();
    const never = () => {
      started.open();
      return new Promise<never>(() => undefined);
    };
    const asked = ask(enhance(modelOf(registry, llm), never), method, 'go', { signal: controller.signal });
    await started.opened;
    controller.abort();
    await expect(asked).rejects.toBe(controller.signal.reason);
  });

  it('sends no request if the signal is already aborted', async () => {
    const asked = ask(enhance(modelOf(registry, llm), [act(() => 1)]), method, 'go', { signal: AbortSignal.abort() });
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
    expect(llm.requests).toHaveLength(0);
  });

  it("fails with the model's own error, also after a tool call", async () => {
    llm.reply(CALL, { status: 401, body: {} });
    const asked = ask(enhance(modelOf(registry, llm), [act(() => 'done')]), method, 'go');
    await expect(asked).rejects.toMatchObject({ code: 'MODEL_AUTHENTICATION', isRetryable: false });
    const error = new TypeError('my own');
    const own = enhance(new ScriptedChatModel([calls(['act', {}]), error]), [act(() => 'done')]);
    await expect(ask(own, method, 'go')).rejects.toBe(error);
  });

  it('reports to the model that no person can approve or answer', async () => {
    let called = 0;
    const tools = [
      act(() => ++called, { approval: 'always' }),
      act(() => suspend({ question: 'Which one?' }), { name: 'choose' }),
    ];
    const model = enhance(modelOf(registry, llm), tools);
    llm.reply(CALL, { text: 'No leave.' }, { calls: [{ name: 'choose', arguments: {} }] }, { text: 'No choice.' });
    expect(await ask(model, method, 'go')).toMatchObject({ result: { message: { content: 'No leave.' } } });
    expect(lastResult()).toMatch(/^Error: Not executed: a person must agree to it first .* no person can be asked/);
    expect(called).toBe(0);
    expect(await ask(model, method, 'go')).toMatchObject({ result: { message: { content: 'No choice.' } } });
    expect(lastResult()).toMatch(/^Error: The tool asks a person "Which one\?", and no person can be asked here/);
  });

  it('reports to the model that it cannot call another agent', async () => {
    const tools = new ToolRegistry();
    tools.register(act(() => 'never'));
    const asking: Tool = {
      ...tools.get('act'),
      child: { kind: 'agent', name: 'other', isHandoff: false },
    };
    llm.reply(CALL, { text: 'Alone, then.' });
    const { result } = await ask(enhance(modelOf(registry, llm), [asking]), method, 'go');
    expect(result.message.content).toBe('Alone, then.');
    expect(lastResult()).toMatch(/^Error: Only a journaled run can call an agent/);
  });

  it('preserves the finish reason of an empty, a cut and a filtered reply', async () => {
    const model = enhance(modelOf(registry, llm), [act(() => 1)]);
    llm.reply({ text: '' }, { text: '' });
    await expect(ask(model, method, 'go')).rejects.toMatchObject({ code: 'MODEL_BAD_REPLY' });
    llm.reply({ ...CALL, text: 'I look.' }, { text: 'It is', finishReason: 'length' });
    const cut = await ask(model, method, 'go');
    expect(cut.result).toMatchObject({ message: { content: 'It is' }, finishReason: 'length' });
    llm.reply({ ...CALL, text: 'I look.' }, { text: '', finishReason: 'content_filter' });
    const filtered = await ask(model, method, 'go');
    expect(filtered.result).toMatchObject({ message: { content: '' }, finishReason: 'content_filter' });
    expect([cut, filtered].map(({ parts }) => textsOf(parts).at(-1))).toEqual(
      method === 'stream' ? ['It is', ''] : ['', ''],
    );
  });

  it('returns the requested format after the calls', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    llm.reply({ text: 'One?' }, CALL, { text: '{"n": "one"}' }, { text: '{"n": 1}' });
    const request = { ...toRequest('go'), toolChoice: 'required', responseFormat: { schema } } as const;
    const { result, parts } = await ask(enhance(modelOf(registry, llm), [act(() => 1)]), method, request);
    expect(result.message.content).toBe('{"n": 1}');
    expect(textsOf(parts).at(-1)).toBe(method === 'stream' ? '{"n": 1}' : '');
    expect(llm.requests[0]).toMatchObject({ tool_choice: 'required' });
  });

  it("calls tools for the call's tenant and passes on its account and deadline", async () => {
    let tenant = '';
    const scripted = new NotingModel([calls(['act', {}]), says('done')]);
    const account = { tenant: 'acme', runId: 'r', sessionId: null, step: 'model:1' };
    const model = enhance(scripted, [act((_args: never, context: ToolRequest) => void (tenant = context.tenant))]);
    await ask(model, method, 'go', { tenant: 'acme', account, deadlineAt: Date.now() + 60_000 });
    expect(tenant).toBe('acme');
    const passed = { tenant: 'acme', deadlineAt: expect.any(Number) };
    expect(scripted.options).toMatchObject([
      { ...passed, account },
      { ...passed, account: { ...account, step: 'model:1.2' } },
    ]);
  });
});
