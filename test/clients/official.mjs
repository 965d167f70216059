// Calls a server with the official packages of several clients, and prints the outcomes as JSON: by client and case.
// Run by test/official-clients.spec.ts: node official.mjs <base URL>
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createOpenResponses } from '@ai-sdk/open-responses';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  run,
  setTracingDisabled,
  tool as agentsTool,
} from '@openai/agents';
import { generateText, Output, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { z } from 'zod';

const [baseURL] = process.argv.slice(2);
const access = { baseURL, apiKey: 'none' };
const CITY = z.object({ city: z.string() });
const WEATHER = { description: 'The weather of a city.', inputSchema: CITY, execute: ({ city }) => `rain in ${city}` };
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const outcomes = {};

async function record(client, name, action) {
  const outcome = await action().catch((error) => `${error.name}: ${error.message}`);
  outcomes[client] = { ...outcomes[client], [name]: outcome };
}

const models = {
  '@ai-sdk/openai responses': createOpenAI(access)('default'),
  '@ai-sdk/openai chat': createOpenAI(access).chat('default'),
  '@ai-sdk/openai-compatible': createOpenAICompatible({ name: 'jackdaw', ...access, includeUsage: true })('default'),
  '@ai-sdk/open-responses': createOpenResponses({ name: 'jackdaw', url: `${baseURL}/responses`, apiKey: 'none' })(
    'default',
  ),
};
for (const [client, model] of Object.entries(models)) {
  const tools = { weather: tool(WEATHER) };
  const stopWhen = stepCountIs(3);
  await record(client, 'text', async () => (await generateText({ model, prompt: 'hello' })).text);
  await record(client, 'stream', async () => {
    const streamed = streamText({ model, prompt: 'hello' });
    const text = await streamed.text;
    return `${text} ${await streamed.finishReason} ${(await streamed.usage).totalTokens}`;
  });
  await record(client, 'client tool', async () => {
    const { text, steps } = await generateText({ model, tools, stopWhen, prompt: 'weather' });
    return `${text} ${steps.length}`;
  });
  await record(client, 'client tool, streamed', async () => {
    const streamed = streamText({ model, tools, stopWhen, prompt: 'weather' });
    return `${await streamed.text} ${(await streamed.steps).length}`;
  });
  await record(client, 'server tool', async () => (await generateText({ model, prompt: 'look' })).text);
  await record(client, 'image', async () => {
    const content = [
      { type: 'text', text: 'image' },
      { type: 'file', data: PIXEL, mediaType: 'image/png' },
    ];
    return (await generateText({ model, messages: [{ role: 'user', content }] })).text;
  });
  await record(client, 'schema', async () => {
    const { output } = await generateText({ model, prompt: 'schema', output: Output.object({ schema: CITY }) });
    return output.city;
  });
  await record(
    client,
    'error',
    async () => (await generateText({ model, prompt: `fail ${client}`, maxRetries: 1 })).text,
  );
}

for (const useResponsesApi of [false, true]) {
  const client = `@langchain/openai ${useResponsesApi ? 'responses' : 'chat'}`;
  const model = new ChatOpenAI({
    model: 'default',
    apiKey: 'none',
    configuration: { baseURL },
    useResponsesApi,
    maxRetries: 1,
  });
  await record(client, 'text', async () => (await model.invoke('hello')).text);
  await record(client, 'stream', async () => {
    let text = '';
    for await (const chunk of await model.stream('hello')) text += chunk.text;
    return text;
  });
  await record(client, 'client tool', async () => {
    const weather = langchainTool(WEATHER.execute, { name: 'weather', description: 'weather', schema: CITY });
    const bound = model.bindTools([weather]);
    const first = await bound.invoke('weather');
    const results = await Promise.all(first.tool_calls.map((call) => weather.invoke(call)));
    return (await bound.invoke([{ role: 'user', content: 'weather' }, first, ...results])).text;
  });
  await record(client, 'server tool', async () => (await model.invoke('look')).text);
  await record(client, 'error', async () => (await model.invoke(`fail ${client}`)).text);
}

setTracingDisabled(true);
const openai = new OpenAI(access);
for (const model of [new OpenAIChatCompletionsModel(openai, 'default'), new OpenAIResponsesModel(openai, 'default')]) {
  const client = `@openai/agents ${model.constructor.name}`;
  const weather = agentsTool({ name: 'weather', description: 'weather', parameters: CITY, execute: WEATHER.execute });
  const agent = new Agent({ name: 'A', instructions: 'Be brief.', model, tools: [weather] });
  await record(client, 'client tool', async () => (await run(agent, 'weather')).finalOutput);
  await record(client, 'client tool, streamed', async () => {
    const streamed = await run(agent, 'weather', { stream: true });
    await streamed.completed;
    return streamed.finalOutput;
  });
}

process.stdout.write(`${JSON.stringify(outcomes)}\n`);
