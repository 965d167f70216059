import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfiguredSecrets, loadConfig } from '../../dist/config/index.js';
import { parseMcpConfig } from '../../dist/mcp/declaration/mcp-declaration.schema.js';
import { McpRegistry } from '../../dist/mcp/index.js';
import { MemoryToolPinStore } from '../../dist/mcp/stores/memory-tool-pin-store.js';
import { ToolTrust } from '../../dist/mcp/trust/tool-trust.service.js';
import { ToolExecutor, ToolRegistry } from '../../dist/tool/index.js';
import { NoToolSwitch, ToolPolicyRegistry } from '../../dist/tool/decision/index.js';
import { SecurityPolicies } from '../../dist/tool-policy/index.js';
import { ToolStates } from '../../dist/tool-state/index.js';

/** `OUTGOING_ALLOW`: the suite's authorization servers listen on other local ports. */
const { config } = loadConfig({
  env: { LLM_PROVIDER: 'offline', DATA_DIR: join(tmpdir(), 'jackdaw-conformance'), OUTGOING_ALLOW: 'localhost' },
});
const NAME = 'peer';

/** Parses a server declaration as an application does. */
function declare(url, auth) {
  const http = { url, ...(auth && { auth }) };
  return parseMcpConfig({ name: NAME, enabled: true, type: 'http', http }, 'conformance', config.mcp);
}

/** A connected server of the suite, with its tools in a registry. */
export class Peer {
  #states = ToolStates.inMemory();
  #tools = new ToolRegistry();
  #executor = new ToolExecutor(
    new ToolPolicyRegistry(),
    new NoToolSwitch(),
    this.#states,
    config.agent,
    new SecurityPolicies(),
    new ConfiguredSecrets([]),
  );
  #registry = new McpRegistry(
    config.mcp,
    config.security,
    config.database,
    this.#tools,
    new ToolTrust(new MemoryToolPinStore()),
    this.#states,
  );

  /** @throws Error if the first connection attempt fails */
  static async connect(url, auth) {
    const peer = new Peer();
    peer.#registry.begin();
    const { connection } = peer.#registry.add(declare(url, auth));
    await connection.until(({ status }) => status === 'ready' || status === 'failed');
    const { status, error } = connection.state;
    if (status === 'ready') return peer;
    await peer.close();
    throw new Error(error);
  }

  /** The server's own names of the available tools. */
  get tools() {
    return this.#tools.list().map(({ definition }) => definition.name.slice(NAME.length + 2));
  }

  definition(tool) {
    return this.#tools.get(`${NAME}__${tool}`).definition;
  }

  /** Calls a tool. @returns its result, or `{ request }` for a request for input, which `answer` answers */
  async call(tool, args = {}, answer) {
    const requested = { name: `${NAME}__${tool}`, arguments: JSON.stringify(args) };
    const named = new Map(this.#tools.list().map((each) => [each.definition.name, each]));
    const site = callSite(answer);
    const planned = await this.#executor.plan(requested, named, site);
    if (planned.kind !== 'run') throw new Error(planned.result?.error ?? planned.kind);
    const done = await this.#executor.invoke(planned, site);
    if (done.kind === 'suspended') return { request: done.suspension };
    if (!done.result.success) throw new Error(done.result.error);
    return done.result;
  }

  /** Repeats a call with the answer to its request for input. */
  async answer(tool, { request }, value) {
    return this.call(tool, {}, { value, by: 'local', memo: request.memo });
  }

  /** Executes a function with the connection. */
  async use(work) {
    return this.#registry.get(NAME).connection.use(work, AbortSignal.timeout(60_000));
  }

  async close() {
    await this.#registry.onApplicationShutdown();
  }
}

function callSite(answer) {
  return {
    principal: { id: 'local', tenant: 'default', roles: [] },
    agent: null,
    sessionId: null,
    runId: randomUUID(),
    callId: randomUUID(),
    key: randomUUID(),
    signal: AbortSignal.timeout(60_000),
    isTainted: false,
    ...(answer && { answer }),
  };
}
