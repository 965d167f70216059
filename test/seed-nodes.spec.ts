import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { rmSync } from 'node:fs';
import { AgentNode, createAgent, LlmNode, WorkflowBuilder, type Agent } from '../src/index.js';
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
      env: { ...llm.env, DATA_DIR: folder, LLM_MODEL: 'gpt-4o', WORKFLOWS_DIR: 'nowhere' },
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
