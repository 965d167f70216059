import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { COMMANDS } from '../src/cli/command.registry.js';
import { CliTerminal, runCli, startCli, type CliEnd, type CliOptions } from './support/cli.js';
import { buildIfStale } from './support/process.js';
import { choose, look, pay, WaitingHost } from './support/waiting-host.js';

let host: WaitingHost;
let folder: string;
let validator: Ajv2020;

beforeAll(async () => {
  buildIfStale();
  host = await WaitingHost.start();
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-cli-'));
  const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as { components: object };
  validator = new Ajv2020({ strict: false, allErrors: true });
  formats.default(validator);
  validator.addSchema({ $id: 'api', components: document.components });
});
beforeEach(() => host.reset());
afterAll(async () => {
  await host.stop();
  rmSync(folder, { recursive: true });
});

const remote = (options: CliOptions = {}): CliOptions => ({
  cwd: folder,
  ...options,
  env: { JACKDAW_URL: host.jackdaw.url, ...options.env },
});
const cli = (args: string, options?: CliOptions): Promise<CliEnd> => runCli(args.split(' '), remote(options));
const terminal = (args: string, width?: number) => CliTerminal.start(args.split(' '), remote(), width);

/** The faults of a JSON text by a schema of docs/openapi.json. */
function faultsOf(text: string, schema: string): unknown {
  const validate = validator.getSchema(`api#/components/schemas/${schema}`)!;
  return validate(JSON.parse(text)) ? [] : validate.errors;
}

describe('the commands against a server', () => {
  it('stream the text of a chat, from the argument and from standard input', async () => {
    host.llm.reply({ text: 'It is 42.' });
    expect(await cli('chat What is 6 * 7?')).toEqual({ code: 0, out: 'It is 42.\n', err: '' });
    expect(host.llm.lastRequest.messages.at(-1)?.content).toBe('What is 6 * 7?');
    host.llm.reply({ text: 'It is 43.' });
    expect((await cli('chat', { input: 'And one more?\n' })).out).toBe('It is 43.\n');
    expect(host.llm.lastRequest.messages.at(-1)?.content).toBe('And one more?');
  });

  it('end with 3 for a run that waits, and with its outcome after the decision', async () => {
    host.script(pay('bob'));
    const { code, out, err } = await cli('chat Pay bob');
    expect([code, out]).toEqual([3, 'I try.\n']);
    const [, id = ''] = /The run (\S+) waits for a person:/.exec(err) ?? [];
    expect(err).toMatch(/approval until [\d-]+T\S+: pay {"to":"bob","amount":5}/);
    const approved = await cli(`runs approve ${id}`);
    expect([approved.code, approved.out]).toEqual([0, expect.stringMatching(/status +completed[^]*the end\n$/)]);
    expect(host.tools.done).toEqual(['pay bob 5']);
  });

  it('deny a call with a reason, edit its arguments, answer a question, cancel and fork a run', async () => {
    const denied = await host.ask(pay('bob'));
    expect(await runCli(['runs', 'deny', denied.id, '--reason', 'too much'], remote())).toMatchObject({ code: 0 });
    expect(JSON.stringify(host.llm.lastRequest.messages)).toContain('too much');
    const edited = await host.ask(pay('bob'));
    const args = ['runs', 'approve', edited.id, '--arguments', '{"to":"eve","amount":1}'];
    expect((await runCli(args, remote())).code).toBe(0);
    const asked = await host.ask(choose('Rome'));
    expect((await cli(`runs input ${asked.id} KL2`)).code).toBe(0);
    expect(host.tools.done).toEqual(['pay eve 1', 'choose Rome KL2']);
    const cancelled = await host.ask(pay('bob'));
    expect((await cli(`runs cancel ${cancelled.id}`)).out).toMatch(/status +cancelled/);
    host.llm.reset();
    host.llm.reply({ text: 'again' });
    expect((await cli(`runs fork ${asked.id} --from model:1`)).out).toMatch(/forked from +\S+\n[^]*again\n$/);
  });

  it('end with 1 and the problem details of the server', async () => {
    const { code, out, err } = await cli('runs show none --json');
    expect([code, out]).toEqual([1, '']);
    expect(faultsOf(err, 'Problem')).toEqual([]);
    expect(JSON.parse(err)).toMatchObject({ code: 'RUN_NOT_FOUND', status: 404 });
    expect(await cli('runs show none')).toMatchObject({ code: 1, err: 'There is no run "none".\n' });
    host.llm.reply({ status: 400 });
    expect((await cli('chat Hi')).code).toBe(1);
  });

  it('name the server that does not answer', async () => {
    const { code, err } = await cli('agents', { env: { JACKDAW_URL: 'http://127.0.0.1:1' } });
    expect([code, err]).toEqual([1, expect.stringContaining('http://127.0.0.1:1')]);
  });

  it('write nothing after their reader has closed the output', async () => {
    host.llm.reply({ text: 'x' });
    const { run_id: id } = JSON.parse((await cli('chat Hi --json')).out) as { run_id: string };
    const child = startCli(['runs', 'export', id], remote());
    child.stdout!.destroy();
    let err = '';
    child.stderr!.on('data', (chunk) => (err += String(chunk)));
    expect([...(await once(child, 'close')), err]).toEqual([0, null, '']);
  });

  it('export and import a session, for the user only', async () => {
    host.llm.reply({ text: 'stored' });
    await cli('chat Store --session stored');
    expect((await cli('sessions show stored')).out).toMatch(/user\nStore\n\S+ assistant\nstored\n$/);
    expect((await cli('sessions export stored --output stored.json')).code).toBe(0);
    expect(statSync(join(folder, 'stored.json')).mode & 0o77).toBe(0);
    expect((await cli('sessions delete stored')).out).toBe('Deleted session stored.\n');
    expect((await cli('sessions import stored.json --id other')).out).toBe('Imported session other with 1 turns.\n');
    expect((await cli('sessions export other --output stored.json')).code).toBe(1);
  });
});

describe('the JSON output', () => {
  /** A call of each command whose output is a schema of the API. */
  const CALLS: Readonly<Record<string, (id: string) => string>> = {
    chat: () => 'Hello',
    'runs list': () => '--limit 2',
    'runs show': (id) => id,
    'runs follow': (id) => id,
    'runs approve': (id) => id,
    'runs deny': (id) => id,
    'runs input': (id) => `${id} KL2`,
    'runs cancel': (id) => id,
    'runs fork': (id) => `${id} --from model:1`,
    'runs export': (id) => id,
    'sessions list': () => '',
    'sessions show': () => 'shown',
    'sessions export': () => 'shown',
    'sessions import': () => 'session.json --id imported',
    agents: () => '',
    'tools list': () => '',
    'tools call': () => 'look {"text":"up"}',
    'mcp list': () => '',
    usage: () => '--by model',
  };
  /** They need an MCP server, a crash, a restored database, or would close the server for callers without a key. */
  const ELSEWHERE = ['runs settle', 'runs release', 'mcp add', 'mcp accept', 'key create', 'key list'];
  const DOCUMENTED = COMMANDS.filter(({ json }) => /Dto$|^RunEvent/.test(json));

  beforeAll(async () => {
    host.llm.reply({ text: 'shown' });
    await cli('chat Hi --session shown');
    await cli('sessions export shown --output session.json');
  });

  it('is checked for every command with a schema', () => {
    expect([...Object.keys(CALLS), ...ELSEWHERE].toSorted()).toEqual(DOCUMENTED.map(({ name }) => name).toSorted());
  });

  it.each(DOCUMENTED.filter(({ name }) => name in CALLS).map(({ name, json }) => [name, json]))(
    'of %s is %s',
    async (name, json) => {
      const run = await host.ask(name === 'runs input' ? choose('Rome') : pay('bob'));
      if (name === 'runs fork') await cli(`runs approve ${run.id}`);
      host.llm.reply({ text: 'done' });
      const { code, out, err } = await cli(`${name} ${CALLS[name]!(run.id)} --json`.replaceAll(/ +/g, ' '));
      const documents = json.startsWith('RunEvent') ? out.trimEnd().split('\n') : [out];
      expect(err).toBe('');
      expect(documents.map((text) => faultsOf(text, json.split(',')[0]!))).toEqual(documents.map(() => []));
      expect([0, 3]).toContain(code);
    },
  );
});

describe('the command line on a terminal', () => {
  it('asks for an approval in place, and continues the answer', async () => {
    host.script(pay('bob'));
    const chat = terminal('chat Pay bob');
    await chat.waitFor('I try.');
    await chat.waitFor('Approval: pay {"to":"bob","amount":5}');
    await chat.waitFor('[l]ater: ');
    expect(host.tools.done).toEqual([]);
    chat.type('y\n');
    await chat.waitFor('the end');
    expect([await chat.end(), host.tools.done]).toEqual([0, ['pay bob 5']]);
  });

  it('asks for a reason, for edited arguments and for the answer of a question', async () => {
    host.script(pay('bob'), choose('Rome'));
    const chat = terminal('chat Pay bob');
    await chat.waitFor('[l]ater: ');
    chat.type('e\n');
    await chat.waitFor('Arguments as JSON: ');
    chat.type('{"to":"eve","amount":2}\n');
    await chat.waitFor('Question of choose: Which one for Rome?');
    await chat.waitFor('Answer (empty: later): ');
    chat.type('LH1\n');
    await chat.waitFor('the end');
    expect([await chat.end(), host.tools.done.toSorted()]).toEqual([0, ['choose Rome LH1', 'pay eve 2']]);
  });

  it('leaves a decision for later, and resumes with runs follow', async () => {
    host.script(pay('bob'));
    const chat = terminal('chat Pay bob');
    await chat.waitFor('[l]ater: ');
    chat.type('l\n');
    await chat.waitFor('waits: jackdaw runs follow ');
    const id = await chat.end().then(() => /^[\w-]+/.exec(chat.output)![0]);
    const follow = terminal(`runs follow ${id}`);
    await follow.waitFor('[l]ater: ');
    follow.type('n\n');
    await follow.waitFor('Reason (optional): ');
    follow.type('no money\n');
    await follow.waitFor('run.completed');
    expect([await follow.end(), host.tools.done]).toEqual([0, []]);
    expect(JSON.stringify(host.llm.lastRequest.messages)).toContain('no money');
  });

  it('converses in one session; Ctrl+C cancels an answer, Ctrl+D ends', async () => {
    const chat = terminal('chat');
    await chat.waitFor('> ');
    host.llm.reply({ text: 'Hello Ann.' });
    chat.type('I am Ann\n');
    await chat.waitFor('Hello Ann.');
    await chat.waitFor('> ');
    host.llm.reply({ hang: true });
    chat.type('Wait\n');
    await host.llm.waitForRequest(2);
    chat.type('\u0003');
    await chat.waitFor('Cancelled.');
    await host.llm.waitForAbort();
    await chat.waitFor('> ');
    host.llm.reply({ text: 'Ann.' });
    chat.type('Who am I?\n');
    await chat.waitFor('Ann.');
    expect(JSON.stringify(host.llm.lastRequest.messages)).toContain('I am Ann');
    await chat.waitFor('> ');
    chat.type('\u0004');
    expect(await chat.end()).toBe(0);
  });

  it('cancels the run of a single message at Ctrl+C, with the exit code 130', async () => {
    host.llm.reply({ hang: true });
    const chat = terminal('chat Wait');
    await host.llm.waitForRequest();
    chat.type('\u0003');
    expect(await chat.end()).toBe(130);
    const { runs } = JSON.parse((await cli('runs list --limit 1 --json')).out) as { runs: { status: string }[] };
    expect(runs[0]?.status).toBe('cancelled');
  });

  it('fits a table to the width, in colours unless NO_COLOR is set', async () => {
    host.llm.reply({ text: 'x' });
    await cli(`chat ${'long '.repeat(40).trim()}`);
    const narrow = terminal('runs list --limit 1', 90);
    expect(await narrow.end()).toBe(0);
    const plain = stripVTControlCharacters(narrow.output);
    expect(plain).not.toBe(narrow.output);
    expect(
      Math.max(
        ...plain
          .trimEnd()
          .split('\r\n')
          .map((line) => line.length),
      ),
    ).toBe(90);
    expect(plain).toContain('…');
    const colourless = CliTerminal.start(['runs', 'list'], remote({ env: { NO_COLOR: '1' } }));
    await colourless.end();
    expect(colourless.output).not.toContain('\u001b[');
  });

  it('shows no control characters of a model or tool', async () => {
    host.llm.reply({ text: '', calls: [look('\u001b[2Jclean\u202e')] }, { text: 'a\u001b]0;title\u0007b' });
    const chat = terminal('chat Look');
    expect(await chat.end()).toBe(0);
    expect(chat.output).toContain('a\ufffd]0;title\ufffdb');
  });
});

it('uses no file of the folder for a server', () => {
  expect(existsSync(join(folder, 'data'))).toBe(false);
});
