import { enhance, type ChatModel, type ToolRegistration } from '../../src/index.js';

const weather: ToolRegistration = {
  name: 'weather',
  description: 'Tells the weather in a city.',
  effect: 'read',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  handler: ({ city }: { city: string }) => `Sunny in ${city}, 24 °C`,
};

/** Answers a question, and writes what the model says while it says it. */
export async function forecast(model: ChatModel, question: string, write: (text: string) => void): Promise<string> {
  const forecaster = enhance(model, [weather], { maxDepth: 3 });
  let answer = '';
  for await (const part of forecaster.stream({ messages: [{ role: 'user', content: question }] })) {
    if (part.type === 'text') write(part.text);
    if (part.type === 'restart') write('\n');
    if (part.type === 'finish') answer = part.result.message.content;
  }
  return answer;
}
