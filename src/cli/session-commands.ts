import { readFileSync } from 'node:fs';
import { usageError } from './cli.error.js';
import type { ArgumentSpec, Call, Command, OptionSpec } from './command.types.js';
import { writeJson } from './run-commands.js';
import { localTime } from './terminal.js';
import { given, parseCount, parseObject } from './value.parser.js';

const SESSION: ArgumentSpec = { name: 'session', help: 'Id of the session' };
/** Options of a list. */
export const PAGE_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  limit: { value: 'count', help: 'Maximum number; 50 by default' },
  cursor: { value: 'next', help: 'The `next` of an earlier page' },
};
/** Messages of a page. */
const PAGE = 200;

export const SESSION_COMMANDS: readonly Command[] = [
  {
    name: 'sessions list',
    summary: 'List sessions, newest first',
    options: PAGE_OPTIONS,
    json: 'SessionPageDto',
    run: async (call) => {
      const { client } = await call.connect();
      const page = await client.sessions.list(pageQuery(call), { signal: call.interrupt.signal });
      if (call.isJson) return call.terminal.json(page);
      call.terminal.table(
        [{ title: 'SESSION' }, { title: 'TURNS', align: 'right' }, { title: 'UPDATED' }, { title: 'OWNER' }],
        page.sessions.map(({ id, turn_count: turns, updated_at: at, owner }) => [id, `${turns}`, localTime(at), owner]),
      );
      if (page.next !== null) call.terminal.note(`More: --cursor ${page.next}`);
    },
  },
  {
    name: 'sessions show',
    summary: 'Show the messages of a session',
    arguments: [SESSION],
    options: {
      limit: { value: 'count', help: 'Maximum number of messages; 200 by default' },
      after: { value: 'turn', help: 'Start after this turn' },
    },
    json: 'MessagePageDto',
    run: show,
  },
  {
    name: 'sessions export',
    summary: 'Write a session as signed JSON',
    arguments: [SESSION],
    options: { output: { value: 'file', help: 'A new file; by default standard output' } },
    json: 'SessionExportDto',
    run: async (call) => {
      const { client } = await call.connect();
      writeJson(call, await client.sessions.export(call.args[0]!, { signal: call.interrupt.signal }));
    },
  },
  {
    name: 'sessions import',
    summary: 'Create a session from an export',
    arguments: [{ name: 'file', help: 'The export; - for standard input' }],
    options: {
      id: { value: 'id', help: 'Another id of the session' },
      trusted: { help: 'Trust an export without a valid signature' },
    },
    json: 'SessionDto',
    run: async (call) => {
      const file = call.args[0]!;
      const session = parseObject(file === '-' ? await call.terminal.input() : readText(file), 'The export');
      const { client } = await call.connect();
      const request = { session, ...given({ id: call.text('id') }), ...(call.flag('trusted') && { trusted: true }) };
      const { id, turn_count: turns, ...rest } = await client.sessions.import(request);
      if (call.isJson) return call.terminal.json({ id, turn_count: turns, ...rest });
      call.terminal.line(`Imported session ${id} with ${turns} turns.`);
    },
  },
  {
    name: 'sessions delete',
    summary: 'Delete a session',
    arguments: [SESSION],
    json: '{ id, deleted }',
    run: async (call) => {
      const id = call.args[0]!;
      const { client } = await call.connect();
      await client.sessions.delete(id, { signal: call.interrupt.signal });
      if (call.isJson) return call.terminal.json({ id, deleted: true });
      call.terminal.line(`Deleted session ${id}.`);
    },
  },
];

/** @throws CliError */
export function pageQuery(call: Call): { limit?: number; cursor?: string } {
  return given({ limit: parseCount(call.text('limit'), '--limit'), cursor: call.text('cursor') });
}

async function show(call: Call): Promise<void> {
  const { client } = await call.connect();
  const limit = parseCount(call.text('limit'), '--limit') ?? PAGE;
  const query = { limit, ...given({ after: parseCount(call.text('after'), '--after') }) };
  const page = await client.sessions.messages(call.args[0]!, query, { signal: call.interrupt.signal });
  if (call.isJson) return call.terminal.json(page);
  for (const { role, content, tool_calls: calls = [], name, created_at: at } of page.messages) {
    call.terminal.line(`${localTime(at)} ${name === undefined ? role : `${role} ${name}`}`, 'bold');
    const parts =
      typeof content === 'string' ? [content] : content.map((part) => ('text' in part ? part.text : '[image]'));
    for (const part of parts.filter((text) => text !== '')) call.terminal.line(part);
    for (const each of calls) call.terminal.line(JSON.stringify(each), 'dim');
  }
  if (page.next !== null) call.terminal.note(`More: --after ${page.next}`);
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
