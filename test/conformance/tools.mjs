import { setTimeout as passes } from 'node:timers/promises';
import { askClient, mcpContent, Tool } from '../../dist/index.js';
import { DEFAULTS, ENUMS, form, image, roots, sample, SCHEMA_2020, text, WAV } from './contents.mjs';

const NAME = { name: { type: 'string' } };
const OK = { ok: { type: 'boolean' } };
/** Interval between two progress notifications of a tool, in ms: long enough for a client to distinguish them. */
const STEP_MS = 50;

/** The tools that the conformance suite calls; the suite's scenario descriptions define their behaviour. */
export class ConformanceTools {
  /** Set after the application started: the connected clients (`McpClients`) and the contents that scenarios change. */
  services;

  test_simple_text() {
    return 'This is a simple text response for testing.';
  }
  test_image_content() {
    return mcpContent([image]);
  }
  test_audio_content() {
    return mcpContent([{ type: 'audio', data: WAV, mimeType: 'audio/wav' }]);
  }
  test_embedded_resource() {
    const resource = {
      uri: 'test://embedded-resource',
      mimeType: 'text/plain',
      text: 'This is an embedded resource content.',
    };
    return mcpContent([{ type: 'resource', resource }]);
  }
  test_multiple_content_types() {
    const json = JSON.stringify({ test: 'data', value: 123 });
    const resource = { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: json };
    return mcpContent([text('Multiple content types test:'), image, { type: 'resource', resource }]);
  }
  test_error_handling() {
    throw new Error('This tool intentionally returns an error for testing');
  }
  async test_tool_with_logging(_input, context) {
    const client = this.services.clients.of(context);
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      client.log('info', line);
      await passes(STEP_MS);
    }
    return 'Logged three lines.';
  }
  test_logging_tool(_input, context) {
    this.services.clients.of(context).log('info', 'Only for subscribers of this level.');
    return 'Logged a line.';
  }
  async test_tool_with_progress(_input, context) {
    for (const progress of [0, 50, 100]) {
      context.progress(progress, 100);
      await passes(STEP_MS);
    }
    return 'Reported progress to the end.';
  }

  test_sampling({ prompt }, { answer }) {
    return answer ? `LLM response: ${answer.value.reply.content.text}` : askClient({ reply: sample(prompt) });
  }
  test_elicitation({ message }, { answer }) {
    const fields = {
      username: { type: 'string', description: "User's response" },
      email: { type: 'string', description: "User's email address" },
    };
    return answer ? `User response: ${JSON.stringify(answer.value.user)}` : askClient({ user: form(message, fields) });
  }
  test_elicitation_sep1034_defaults(_input, { answer }) {
    return answer ? elicited(answer) : askClient({ form: form('Please check these', DEFAULTS, []) });
  }
  test_elicitation_sep1330_enums(_input, { answer }) {
    return answer ? elicited(answer) : askClient({ form: form('Please choose', ENUMS, []) });
  }

  json_schema_2020_12_tool(input) {
    return input;
  }
  test_missing_capability(_input, { answer }) {
    return answer ? 'It can.' : askClient({ reply: sample('Can you?') });
  }
  test_streaming_elicitation(_input, { answer }) {
    return answer ? 'Answered.' : askClient({ sure: form('Sure?', OK) });
  }
  test_trigger_tool_change() {
    const { tools } = this.services;
    tools.register({ name: 'test_passing_tool', description: 'Comes and goes.', handler: () => 'there' });
    tools.unregister('test_passing_tool');
    return 'The tools have changed.';
  }
  test_trigger_prompt_change() {
    const { prompts } = this.services;
    prompts.register({ name: 'test_passing_prompt', description: 'Comes and goes.', get: () => [] });
    prompts.unregister('test_passing_prompt');
    return 'The prompts have changed.';
  }

  test_input_required_result_elicitation(_input, { answer }) {
    if (!answer) return askClient({ user_name: form('What is your name?', NAME) });
    return `Hello, ${answer.value.user_name.content?.name ?? 'guest'}!`;
  }
  test_input_required_result_sampling(_input, { answer }) {
    const question = sample('What is the capital of France?');
    return answer ? answer.value.capital_question.content.text : askClient({ capital_question: question });
  }
  test_input_required_result_list_roots(_input, { answer }) {
    return answer ? `Roots: ${JSON.stringify(answer.value.client_roots.roots)}` : askClient({ client_roots: roots });
  }
  test_input_required_result_request_state(_input, { answer }) {
    return answer ? 'state-ok' : askClient({ confirm: form('Please confirm', OK) });
  }
  test_input_required_result_tampered_state(_input, { answer }) {
    return answer ? 'state-ok' : askClient({ confirm: form('Please confirm', OK) });
  }
  test_input_required_result_multiple_inputs(_input, { answer }) {
    if (answer) return `Got ${Object.keys(answer.value).join(', ')}.`;
    return askClient({
      user_name: form('What is your name?', NAME),
      greeting: sample('Generate a greeting', 50),
      client_roots: roots,
    });
  }
  test_input_required_result_multi_round(_input, { answer }) {
    if (!answer) return askClient({ step1: form('Step 1: What is your name?', NAME) });
    if (answer.value.step2) return `You like ${answer.value.step2.content.color}.`;
    return askClient({ step2: form('Step 2: What is your favorite color?', { color: { type: 'string' } }) });
  }
  test_input_required_result_capabilities(_input, context) {
    if (context.answer) return 'Answered.';
    const { elicitation, sampling } = this.services.clients.of(context).capabilities;
    return askClient({
      ...(elicitation && { confirm: form('Please confirm', OK) }),
      ...(sampling && { greeting: sample('Generate a greeting', 50) }),
    });
  }
}

function elicited({ value: { form: said } }) {
  return `Elicitation completed: action=${said.action}, content=${JSON.stringify(said.content ?? {})}`;
}

const INPUTS = {
  test_sampling: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
  test_elicitation: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
  json_schema_2020_12_tool: SCHEMA_2020,
};

// Plain JavaScript has no decorators: this loop calls `Tool` as the compiler would.
for (const name of Object.getOwnPropertyNames(ConformanceTools.prototype)) {
  if (name === 'constructor') continue;
  const { [name]: input = { type: 'object', properties: {} } } = INPUTS;
  const description = `A tool of the conformance suite: ${name}.`;
  const declare = Tool({ name, description, effect: 'read', input });
  declare(ConformanceTools.prototype, name, Object.getOwnPropertyDescriptor(ConformanceTools.prototype, name));
}
