import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import {
  AgentNode,
  createAgent,
  LlmNode,
  openModels,
  WorkflowBuilder,
  type Agent,
  type ChatModel,
  type OpenedModels,
} from '../src/index.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeRequest } from './support/fake-llm.types.js';
import { newFolder } from './support/jackdaw.js';
import { openAiBody } from './support/providers/openai.js';
import type { Fault } from './support/providers/provider-rule.js';

function refusalOf(param: string): Fault {
  const message = `Unsupported parameter: '${param}' is not supported with this model.`;
  return { message, param, code: 'unsupported_parameter' };
}

const LLM = new WorkflowBuilder('llm').add(new LlmNode('test')).build();
const DESK = new WorkflowBuilder('desk')
  .add(new AgentNode('desk', { instructions: 'I am the desk.', tools: [], memory: { maxContextTokens: 4000 } }))
  .build();

// The examples of the seed's technical specification of nodes, with the fake LLM instead of its test double.
describe('the nodes of seed 002', () => {
  const folder = newFolder();
  let llm: FakeLlm;
  let agent: Agent;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    // A missing folder, so that no workflow file is read.
    agent = await createAgent({
      config: { ...llm.env, DATA_DIR: folder, LLM_MODEL: 'gpt-4o', WORKFLOWS_DIR: 'nowhere' },
      workflows: [LLM, DESK],
    });
  });
  afterAll(async () => {
    await agent.close();
    await llm.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => llm.reset());

  it('should generate a text response when a valid prompt is provided', async () => {
    llm.reply({ text: 'I am doing well, thank you!', usage: [10, 5] });
    const prompt = 'Hello, how are you?';
    const { output } = await agent.runWorkflow('llm', { prompt });
    expect(output).toMatchObject({
      response: 'I am doing well, thank you!',
      model: 'gpt-4o',
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      prompt,
    });
    expect(llm.requests).toHaveLength(1);
    expect(llm.lastRequest).toMatchObject({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: prompt }],
      temperature: 0.7,
      max_completion_tokens: 1000,
      top_p: 1,
      frequency_penalty: 0,
      presence_penalty: 0,
    });
  });

  it('should throw when the prompt is empty', async () => {
    await expect(agent.runWorkflow('llm', { prompt: '' })).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      message: expect.stringContaining('Prompt is required'),
    });
  });

  it.each([
    ['whole', new LlmNode('test')],
    ['streamed', new LlmNode('test').streaming()],
  ])('sends its default parameters to an unknown model, and omits those that it refuses: %s', async (how, node) => {
    llm.always(({ temperature, top_p }: FakeRequest) => {
      const param = temperature !== undefined ? 'temperature' : top_p !== undefined ? 'top_p' : null;
      return param === null ? { text: 'ok' } : { status: 400, body: openAiBody(refusalOf(param)) };
    });
    const { output } = await agent.runWorkflow(new WorkflowBuilder('u').add(node.setModel(`unknown-${how}`)).build(), {
      prompt: 'hi',
    });
    expect(output).toMatchObject({ response: 'ok' });
    expect(llm.requests[0]).toMatchObject({ temperature: 0.7, top_p: 1, presence_penalty: 0 });
    expect(llm.requests).toHaveLength(3);
  });

  it('fails if the model refuses a parameter that the node sets', async () => {
    llm.always({ status: 400, body: openAiBody(refusalOf('temperature')) });
    const node = new LlmNode('test').setModel('unknown').setParameters({ temperature: 0.1 });
    const { error } = await agent.runWorkflow(new WorkflowBuilder('u').add(node).build(), { prompt: 'hi' });
    expect(error?.message).toMatch(/refused the parameter temperature.*LLM_QUIRKS=drop:temperature/);
    expect(llm.requests).toHaveLength(1);
  });

  it('accepts another model, and consistent parameters', async () => {
    llm.reply({ text: 'ok' });
    const node = new LlmNode('test')
      .setModel('gpt-4.1')
      .setParameters({ temperature: 0.1 })
      .setParameters({ topP: 0.5 });
    const { output } = await agent.runWorkflow(new WorkflowBuilder('once').add(node).build(), { prompt: 'hi' });
    expect(output).toMatchObject({ response: 'ok', prompt: 'hi' });
    expect(llm.lastRequest).toMatchObject({ model: 'gpt-4.1', temperature: 0.1, top_p: 0.5, presence_penalty: 0 });
  });

  it('remembers earlier questions to an agent, in the session of the runs', async () => {
    llm.reply({ text: 'Hello, Kira.', usage: [9, 3] }, { text: 'Kira.', usage: [20, 1] });
    await agent.runWorkflow('desk', { message: 'I am Kira.' }, { sessionId: 'memory' });
    const { output } = await agent.runWorkflow('desk', { query: 'Who am I?' }, { sessionId: 'memory' });
    expect(output).toMatchObject({
      response: 'Kira.',
      model: 'gpt-4o',
      usage: { total_tokens: 21 },
      memory_state: { message_count: 2, context_tokens: expect.any(Number), dropped: 0 },
    });
    expect(llm.lastRequest.messages.map(({ content }) => content)).toEqual([
      'I am the desk.',
      'I am Kira.',
      'Hello, Kira.',
      'Who am I?',
    ]);
    await expect(agent.runWorkflow('desk', {})).rejects.toMatchObject({
      message: expect.stringContaining('Message or query is required'),
    });
  });
});

describe('an llm node outside of a workflow', () => {
  let llm: FakeLlm;
  let models: OpenedModels;
  let model: ChatModel;
  const env = { ...process.env };
  beforeAll(async () => {
    llm = await FakeLlm.start();
    Object.assign(process.env, { ...llm.env, LLM_MODEL: 'gpt-4.1' });
    models = await openModels();
    model = models.create();
  });
  afterAll(async () => {
    process.env = env;
    await models.close();
    await llm.close();
  });
  beforeEach(() => llm.reset());

  it.each([
    ['the model of the environment', () => ({})],
    ['a given model', () => ({ chatModel: model })],
  ])('generates a text response by %s', async (_whose, options) => {
    llm.reply({ text: 'I am doing well, thank you!', usage: [10, 5] });
    const prompt = 'Hello, how are you?';
    expect(await new LlmNode('test').execute({ prompt }, options())).toEqual({
      response: 'I am doing well, thank you!',
      model: 'gpt-4.1',
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      prompt,
      finish_reason: 'stop',
      is_complete: true,
    });
    expect(llm.requests).toHaveLength(1);
    expect(llm.lastRequest).toMatchObject({
      model: 'gpt-4.1',
      messages: [{ role: 'user', content: prompt }],
      temperature: 0.7,
      max_completion_tokens: 1000,
      top_p: 1,
      frequency_penalty: 0,
      presence_penalty: 0,
    });
  });

  it('applies its prompt, instructions, model and parameters', async () => {
    llm.reply({ text: 'Bonjour' });
    const node = new LlmNode('test', 'Translate: {{input.text}}')
      .setInstructions('Into {{input.language}}.')
      .setModel('gpt-4.1-mini')
      .setParameters({ temperature: 0.1 });
    const output = await node.execute({ text: 'Hello', language: 'French' });
    expect(output).toMatchObject({ response: 'Bonjour', prompt: 'Translate: Hello' });
    expect(llm.lastRequest).toMatchObject({
      model: 'gpt-4.1-mini',
      temperature: 0.1,
      messages: [{ content: 'Into French.' }, { content: 'Translate: Hello' }],
    });
  });

  it('omits its default parameters that the model refuses', async () => {
    llm.always(({ temperature }: FakeRequest) =>
      temperature === undefined ? { text: 'ok' } : { status: 400, body: openAiBody(refusalOf('temperature')) },
    );
    expect(await new LlmNode('test').execute({ prompt: 'hi' }, { chatModel: model })).toMatchObject({ response: 'ok' });
  });

  it('has the value of an answer with a format, after a correction', async () => {
    llm.reply({ text: 'four' }, { text: '{"n":4}' });
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const node = new LlmNode('test', '2 + 2?').setResponseFormat({ schema, name: 'sum' });
    expect(await node.execute({}, { chatModel: model })).toMatchObject({ output: { n: 4 }, is_complete: true });
    expect(llm.requests).toHaveLength(2);
  });

  it('fails with an incomplete answer, unless it accepts it', async () => {
    llm.always({ text: 'I am', finishReason: 'length' });
    const options = { chatModel: model };
    await expect(new LlmNode('test').execute({ prompt: 'hi' }, options)).rejects.toMatchObject({
      code: 'ANSWER_INCOMPLETE',
    });
    const accepted = await new LlmNode('test').acceptIncomplete().execute({ prompt: 'hi' }, options);
    expect(accepted).toMatchObject({ response: 'I am', finish_reason: 'length', is_complete: false });
  });

  it.each([
    ['without a prompt', () => new LlmNode('test').execute({ prompt: '' }), 'Prompt is required'],
    ['with a place of another node', () => new LlmNode('test', '{{load.result}}').execute(), 'load'],
    [
      'with a retry',
      () => new LlmNode('test').withRetry(2).execute({ prompt: 'x' }),
      'withRetry() of "test" applies in',
    ],
    ['with streaming', () => new LlmNode('test').streaming().execute({ prompt: 'x' }), 'streaming() of "test"'],
    [
      'with two models',
      () => new LlmNode('test').setModel('other').execute({ prompt: 'x' }, { chatModel: model }),
      'names a model, and so does chatModel',
    ],
    [
      'with an unknown option',
      () => new LlmNode('test').execute({ prompt: 'x' }, { model } as object),
      'unknown option model (known: chatModel, signal)',
    ],
    [
      'with a refused parameter',
      () => new LlmNode('test').setModel('o3').setParameters({ temperature: 0.1 }).execute({ prompt: 'x' }),
      'takes no temperature: remove temperature from "test"',
    ],
  ])('is refused %s', async (_what, execute, message) => {
    await expect(execute()).rejects.toThrow(message);
    expect(llm.requests).toEqual([]);
  });
});
