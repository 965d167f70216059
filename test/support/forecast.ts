import { enhance, type ChatModel, type ToolRegistration } from '../../src/index.js';

const weather: ToolRegistration = {
  name: 'weather',
  description: 'Returns the weather in a city.',
  effect: 'read',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  handler: ({ city }: { city: string }) => `Sunny in ${city}, 24 °C`,
};

/** Answers a question, and writes the text of the model while it arrives. */
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
