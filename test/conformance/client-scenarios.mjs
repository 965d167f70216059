import { authFor } from './scenario-auth.mjs';
import { Peer } from './peer.mjs';

/** For a server that its scenario does not use further: the application connects and reads its tools. */
const connectOnly = async () => undefined;

/** The actions of each scenario, given the server and the scenario's context. */
const STEPS = {
  initialize: connectOnly,
  'request-metadata': connectOnly,
  'json-schema-ref-no-deref': connectOnly,
  tools_call: (peer) => peer.call('add_numbers', { a: 5, b: 3 }),
  'elicitation-sep1034-client-defaults': acceptDefaults,
  'sse-retry': (peer) => peer.call('test_reconnection'),
  'http-standard-headers': readAll,
  'http-custom-headers': callAll,
  'http-invalid-tool-headers': callWhatIsThere,
  'sep-2322-client-request-state': answerQuestions,
  'json-schema-2020-12-preservation': echoSchema,
};

export async function runScenario(name, url, context) {
  const isAuth = name.startsWith('auth/');
  const steps = STEPS[name] ?? (isAuth ? (peer) => peer.call('test-tool') : undefined);
  if (!steps) throw new Error(`The scenario ${name} is not known.`);
  const peer = await Peer.connect(url, isAuth ? await authFor(name, context) : undefined);
  try {
    await steps(peer, context);
  } finally {
    await peer.close();
  }
}

/** Accepts the request for input without changes of the proposed values. */
async function acceptDefaults(peer) {
  const asked = await peer.call('test_client_elicitation_defaults');
  await peer.answer('test_client_elicitation_defaults', asked, {});
}

async function readAll(peer) {
  for (const tool of peer.tools) await peer.call(tool);
  await peer.use(async (client) => {
    const { resources } = await client.listResources();
    for (const { uri } of resources) await client.readResource({ uri });
    const { prompts } = await client.listPrompts();
    for (const { name } of prompts) await client.getPrompt({ name });
  });
}

/**
 * Omits arguments that are `null`, as a model would: these tools' parameters do not accept `null`, so the call would be
 * refused.
 */
async function callAll(peer, { toolCalls }) {
  for (const { name, arguments: args } of toolCalls) {
    await peer.call(name, Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)));
  }
}

async function callWhatIsThere(peer) {
  for (const tool of peer.tools) await peer.call(tool, { region: 'us-west1' });
}

/** Two requests for input are pending while another tool is called. */
async function answerQuestions(peer) {
  const echo = await peer.call('test_mrtr_echo_state');
  const plain = await peer.call('test_mrtr_no_state');
  await peer.call('test_mrtr_unrelated');
  await peer.answer('test_mrtr_no_state', plain, { confirmed: true });
  await peer.answer('test_mrtr_echo_state', echo, { confirmed: true });
  await peer.call('test_mrtr_no_result_type');
}

async function echoSchema(peer) {
  const { inputSchema: schema } = peer.definition('json_schema_2020_12_tool');
  await peer.call('json_schema_echo', { schema });
}
