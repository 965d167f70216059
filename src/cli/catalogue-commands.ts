import { usageError } from './cli.error.js';
import type { ArgumentSpec, Call, Command } from './command.types.js';
import { exitCodeOf, noteWaiting } from './run-display.js';
import { PAGE_OPTIONS, pageQuery } from './session-commands.js';
import type { Column } from './terminal.js';
import { given, parseChoice, parseObject } from './value.parser.js';

const right = (title: string): Column => ({ title, align: 'right' });
const SERVER: ArgumentSpec = { name: 'name', help: 'Name of the server' };

/** Agents, tools, MCP servers and usage. */
export const CATALOGUE_COMMANDS: readonly Command[] = [
  {
    name: 'agents',
    summary: 'List agents',
    json: 'AgentListDto',
    run: async (call) => {
      const { client } = await call.connect();
      const answer = await client.agents.list();
      if (call.isJson) return call.terminal.json(answer);
      call.terminal.table(
        [{ title: 'AGENT' }, { title: 'MODEL' }, { title: 'TOOLS', align: 'right' }, { title: 'DESCRIPTION' }],
        answer.agents.map(({ name, model, tools, description, is_default: isDefault }) => [
          isDefault ? `${name} (default)` : name,
          [model.provider, model.name].filter(Boolean).join(':'),
          `${tools.length}`,
          description,
        ]),
      );
    },
  },
  {
    name: 'tools list',
    summary: 'List tools',
    json: 'ToolListDto',
    run: async (call) => {
      const { client } = await call.connect();
      const answer = await client.tools.list();
      if (call.isJson) return call.terminal.json(answer);
      call.terminal.table(
        [{ title: 'TOOL' }, { title: 'EFFECT' }, { title: 'ENABLED' }, { title: 'DESCRIPTION' }],
        answer.tools.map(({ name, effect, enabled, description }) => [
          name,
          effect,
          enabled ? 'yes' : 'no',
          description,
        ]),
      );
    },
  },
  {
    name: 'tools call',
    summary: 'Call a tool without an agent',
    arguments: [
      { name: 'tool', help: 'Name of the tool' },
      { name: 'arguments', help: 'Its arguments as JSON', isOptional: true },
    ],
    options: { session: { value: 'id', help: 'Session of the call, which must exist' } },
    json: 'ToolCallAnswerDto',
    run: callTool,
  },
  {
    name: 'mcp list',
    summary: 'List MCP servers',
    json: 'McpServerListDto',
    run: async (call) => {
      const { client } = await call.connect();
      const answer = await client.mcp.list();
      if (call.isJson) return call.terminal.json(answer);
      call.terminal.table(
        [
          { title: 'SERVER' },
          { title: 'STATUS' },
          { title: 'TRANSPORT' },
          { title: 'TOOLS', align: 'right' },
          { title: 'TO ACCEPT', align: 'right' },
        ],
        answer.servers.map((one) => [one.name, one.status, one.transport, `${one.tools.length}`, `${one.quarantined}`]),
      );
    },
  },
  {
    name: 'mcp add',
    summary: 'Add an HTTP MCP server to the running configuration; an operator must allow such servers (docs/mcp.md)',
    arguments: [SERVER, { name: 'url', help: 'URL of its Streamable HTTP endpoint' }],
    options: {
      header: { value: 'name: value', help: 'Header of each request; may be repeated', isMultiple: true },
      tool: { value: 'pattern', help: 'Only tools with such names; may be repeated', isMultiple: true },
    },
    json: 'McpServerDto',
    run: async (call) => {
      const [name = '', url = ''] = call.args;
      const headers = Object.fromEntries(call.texts('header').map(toHeader));
      const tools = call.texts('tool');
      const { client } = await call.connect();
      const added = await client.mcp.add({
        name,
        url,
        ...(Object.keys(headers).length > 0 && { headers }),
        ...(tools.length > 0 && { tools }),
      });
      if (call.isJson) return call.terminal.json(added);
      call.terminal.line(`Added MCP server ${added.name}: ${added.status}.`);
    },
  },
  {
    name: 'mcp accept',
    summary: 'Show the tool definitions of an MCP server that wait for a person, and accept them',
    arguments: [SERVER],
    options: {
      yes: { help: 'Accept without a question' },
      digest: { value: 'digest', help: 'Accept only the reviewed state' },
    },
    json: 'McpAcceptedDto',
    run: acceptServer,
  },
  {
    name: 'usage',
    summary: 'Show tokens and costs of model calls',
    options: {
      by: { value: 'group', help: 'day (default), session, agent or model' },
      session: { value: 'id', help: 'Of a session' },
      agent: { value: 'name', help: 'Of an agent' },
      model: { value: 'name', help: 'Of a model' },
      from: { value: 'time', help: 'First day or time, such as 2026-01-31' },
      to: { value: 'time', help: 'End, exclusive' },
      ...PAGE_OPTIONS,
    },
    json: 'UsagePageDto',
    run: showUsage,
  },
];

async function callTool(call: Call): Promise<number> {
  const [tool = '', text] = call.args;
  const request = given({
    arguments: text === undefined ? undefined : parseObject(text, 'The arguments'),
    sessionId: call.text('session'),
  });
  const { client } = await call.connect('execute');
  const answer = await client.tools.call(tool, request, { signal: call.interrupt.signal });
  const code = answer.success === false ? exitCodeOf('failed') : exitCodeOf(answer.status);
  if (call.isJson) call.terminal.json(answer);
  else if (answer.status === 'waiting') noteWaiting(call, answer.run_id, answer.waiting ?? []);
  else if (answer.success === true) {
    call.terminal.line(typeof answer.result === 'string' ? answer.result : JSON.stringify(answer.result, null, 2));
  } else call.terminal.note(answer.error ?? `The call is ${answer.status}.`, 'red');
  return code;
}

async function acceptServer(call: Call): Promise<void> {
  const name = call.args[0]!;
  const { terminal } = call;
  const { client } = await call.connect();
  const pending = await client.mcp.accept(name, { dryRun: true });
  if (!call.isJson) {
    for (const { tool, reason, findings, differences } of pending.tools) {
      terminal.line(`${tool}: ${reason}`, 'bold');
      for (const each of [...findings, ...differences]) terminal.line(`  ${JSON.stringify(each)}`);
    }
    if (pending.tools.length === 0) return terminal.line('No definition waits.');
  }
  if (!call.flag('yes') && !(await isConfirmed(call, pending.tools.length))) {
    if (call.isJson) terminal.json(pending);
    else terminal.note('Nothing was accepted; --yes accepts.');
    return;
  }
  const accepted = await client.mcp.accept(name, { digest: call.text('digest') ?? pending.digest });
  if (call.isJson) terminal.json(accepted);
  else terminal.line(`Accepted ${accepted.tools.length} definitions.`);
}

async function isConfirmed({ terminal }: Call, count: number): Promise<boolean> {
  if (!terminal.isPerson) return false;
  return /^y/i.test((await terminal.ask(`Accept ${count} definitions? [y]es, [n]o: `)) ?? '');
}

async function showUsage(call: Call): Promise<void> {
  const by = parseChoice(call.text('by'), ['day', 'session', 'agent', 'model'], '--by');
  const query = given({
    by,
    sessionId: call.text('session'),
    agent: call.text('agent'),
    model: call.text('model'),
    from: call.text('from'),
    to: call.text('to'),
  });
  const { client } = await call.connect();
  const page = await client.usage({ ...query, ...pageQuery(call) });
  if (call.isJson) return call.terminal.json(page);
  const row = (name: string, { calls, usage }: { calls: number; usage: typeof page.total.usage }) => [
    name,
    `${calls}`,
    `${usage.prompt_tokens}`,
    `${usage.completion_tokens}`,
    usage.cost === undefined ? '' : String(usage.cost),
  ];
  call.terminal.table(
    [{ title: (by ?? 'day').toUpperCase() }, right('CALLS'), right('PROMPT'), right('COMPLETION'), right('COST')],
    [...page.entries.map((entry) => row(entry.key ?? '', entry)), row('total', page.total)],
  );
  if (page.next !== null) call.terminal.note(`More: --cursor ${page.next}`);
}

function toHeader(text: string): [string, string] {
  const at = text.indexOf(':');
  if (at < 1) throw usageError('--header must be "name: value".');
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}
