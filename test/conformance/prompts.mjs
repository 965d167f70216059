import { form, image, text } from './contents.mjs';

const user = (content) => ({ role: 'user', content });

/** The prompts that the conformance suite requests. */
export const PROMPTS = [
  {
    name: 'test_simple_prompt',
    description: 'Says one thing.',
    get: () => [user(text('This is a simple prompt for testing.'))],
  },
  {
    name: 'test_prompt_with_arguments',
    description: 'Says its arguments.',
    arguments: [
      { name: 'arg1', description: 'The first', required: true },
      { name: 'arg2', description: 'The second', required: true },
    ],
    get: ({ arg1, arg2 }) => [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    complete: (_argument, typed) => ['paris', 'park', 'party'].filter((value) => value.startsWith(typed)),
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'Has a resource in it.',
    arguments: [{ name: 'resourceUri', description: 'Its address', required: true }],
    get: ({ resourceUri: uri }) => [
      user({
        type: 'resource',
        resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
      }),
      user(text('Please process the embedded resource above.')),
    ],
  },
  {
    name: 'test_prompt_with_image',
    description: 'Has a picture in it.',
    get: () => [user(image), user(text('Please analyze the image above.'))],
  },
  {
    name: 'test_input_required_result_prompt',
    description: 'Asks the client first.',
    get(_args, { inputs: { user_context: said } }) {
      const context = said?.content?.context;
      if (typeof context === 'string') return [user(text(`Use this context: ${context}`))];
      const fields = { context: { type: 'string' } };
      return { ask: { user_context: form('What context should the prompt use?', fields) } };
    },
  },
];
