import { writeFileSync } from 'node:fs';
import type { JackdawClient, RunAnswer } from '../http-client/index.js';
import { parseExactJson } from '../kernel/json/index.js';
import type { ArgumentSpec, Call, Command, OptionSpec } from './command.types.js';
import type { Connection } from './connection.js';
import { EventDisplay, exitCodeOf, noteWaiting, showRun } from './run-display.js';
import { localTime } from './terminal.js';
import { given, parseChoice, parseCount, parseJson, parseObject } from './value.parser.js';
import { EXIT, usageError } from './cli.error.js';

const RUN: ArgumentSpec = { name: 'run', help: 'Id of the run' };
const CALL: OptionSpec = { value: 'id', help: 'One of the waiting calls; by default all, or the only one' };
const DETACH: OptionSpec = { help: 'Return at once, instead of at the next end or wait of the run' };

type Decide = (client: JackdawClient, id: string, call: Call) => Promise<RunAnswer>;

export const RUN_COMMANDS: readonly Command[] = [
  {
    name: 'runs list',
    summary: 'List runs, newest first',
    options: {
      status: {
        value: 'status',
        help: 'queued, running, waiting, completed, failed or cancelled; several with commas',
      },
      agent: { value: 'name', help: 'Runs of an agent' },
      session: { value: 'id', help: 'Runs of a session' },
      text: { value: 'text', help: 'Runs whose question has this text' },
      limit: { value: 'count', help: 'Maximum number; 50 by default' },
      cursor: { value: 'next', help: 'The `next` of an earlier page' },
    },
    json: 'RunPageDto',
    run: list,
  },
  {
    name: 'runs show',
    summary: 'Show a run: its status, steps, answer and pending decisions',
    arguments: [RUN],
    json: 'RunAnswerDto',
    run: async (call) => {
      const { client } = await call.connect();
      showAnswer(call, await client.runs.get(call.args[0]!, { signal: call.interrupt.signal }));
    },
  },
  {
    name: 'runs follow',
    summary: 'Show the events of a run until it ends or waits; on a terminal, ask for its decisions',
    arguments: [RUN],
    options: { after: { value: 'position', help: 'Start after this position' } },
    json: 'RunEvent, one in a line',
    run: async (call) => {
      const { client } = await call.connect('execute');
      const options = given({ after: call.text('after'), signal: call.interrupt.signal });
      const stream = client.runs.follow(call.args[0]!, options);
      const { status } = await showRun(call, client, stream, new EventDisplay(call.terminal, call.isJson));
      return exitCodeOf(status);
    },
  },
  decision('approve', 'Approve waiting calls', [], {
    options: {
      call: CALL,
      arguments: { value: 'json', help: 'Arguments in place of those of the model; with one call only' },
      scope: { value: 'scope', help: 'call, run or session: also later calls of the tool' },
    },
    decide: (client, id, call) =>
      client.runs.approve(
        id,
        given({
          callId: call.text('call'),
          arguments: optional(call.text('arguments'), (text) => parseObject(text, '--arguments')),
          scope: parseChoice(call.text('scope'), ['call', 'run', 'session'], '--scope'),
        }),
      ),
  }),
  decision('deny', 'Deny waiting calls or questions', [], {
    options: { call: CALL, reason: { value: 'text', help: 'Reason, which the model reads' } },
    decide: (client, id, call) =>
      client.runs.deny(id, given({ callId: call.text('call'), reason: call.text('reason') })),
  }),
  decision(
    'input',
    'Answer the question of a tool',
    [{ name: 'value', help: 'The answer: JSON, or text', isRest: true }],
    {
      options: { call: CALL },
      decide: (client, id, call) =>
        client.runs.input(id, {
          ...given({ callId: call.text('call') }),
          value: valueOf(call.args.slice(1).join(' ')),
        }),
    },
  ),
  decision(
    'settle',
    'Report the outcome of a call that a stop of the server interrupted',
    [{ name: 'outcome', help: 'retry (it did not happen), succeeded or failed' }],
    {
      options: {
        call: CALL,
        result: { value: 'json', help: 'With succeeded: the result' },
        error: { value: 'text', help: 'With failed: the error for the model' },
      },
      decide: (client, id, call) => {
        const outcome = parseChoice(call.args[1], ['retry', 'succeeded', 'failed'], 'The outcome')!;
        const result = optional(call.text('result'), (text) => parseJson(text, '--result'));
        return client.runs.settle(id, {
          outcome,
          ...given({ callId: call.text('call'), result, error: call.text('error') }),
        });
      },
    },
  ),
  decision('release', 'Let a run continue that waits because the database was restored', [], {
    decide: (client, id) => client.runs.release(id),
  }),
  decision('cancel', 'Cancel a run', [], { decide: (client, id) => client.runs.cancel(id) }),
  decision('fork', 'Start a new run from a step of a run', [], {
    options: {
      from: { value: 'step', help: 'First step that the new run executes, such as model:2' },
      session: { value: 'id', help: 'Session of the new run; by default a new one' },
      edit: { value: 'json', help: 'Changes, such as {"message":"…"} (docs/time-travel.md)' },
    },
    decide: (client, id, call) => {
      const fromStep = call.text('from');
      if (fromStep === undefined) throw usageError('--from is missing: the first step to execute, such as model:1.');
      const edit = optional(call.text('edit'), (text) => parseObject(text, '--edit'));
      return client.runs.fork(id, { fromStep, ...given({ sessionId: call.text('session'), edit }) });
    },
  }),
  {
    name: 'runs export',
    summary: 'Write a run with its journal as JSON, for `jackdaw replay`',
    arguments: [RUN],
    options: { output: { value: 'file', help: 'A new file; by default standard output' } },
    json: 'RunExportDto',
    run: async (call) => writeJson(call, parseExactJson(await exportOf(await call.connect(), call.args[0]!))),
  },
];

interface DecisionSpec {
  readonly options?: Command['options'];
  readonly decide: Decide;
}

/** A command that decides about a run and waits for its outcome. */
function decision(
  word: string,
  summary: string,
  more: readonly ArgumentSpec[],
  { options = {}, decide }: DecisionSpec,
): Command {
  return {
    name: `runs ${word}`,
    summary,
    arguments: [RUN, ...more],
    options: { ...options, detach: DETACH },
    json: 'RunAnswerDto',
    run: async (call) => {
      const { client } = await call.connect('execute');
      const decided = await decide(client, call.args[0]!, call);
      const run = call.flag('detach') ? decided : await outcomeOf(call, client, decided);
      showAnswer(call, run);
      return word === 'cancel' && run.status === 'cancelled' ? EXIT.ok : exitCodeOf(run.status);
    },
  };
}

async function outcomeOf(call: Call, client: JackdawClient, { run_id: id, status }: RunAnswer): Promise<RunAnswer> {
  const { signal } = call.interrupt;
  // The other decisions of the run are still missing.
  if (status === 'waiting') return client.runs.get(id, { signal });
  for await (const _ of client.runs.follow(id, { signal }));
  signal.throwIfAborted();
  return client.runs.get(id, { signal });
}

async function list(call: Call): Promise<void> {
  const { client } = await call.connect();
  const page = await client.runs.list(
    given({
      status: call.text('status'),
      agent: call.text('agent'),
      sessionId: call.text('session'),
      text: call.text('text'),
      limit: parseCount(call.text('limit'), '--limit'),
      cursor: call.text('cursor'),
    }),
    { signal: call.interrupt.signal },
  );
  if (call.isJson) return call.terminal.json(page);
  call.terminal.table(
    [{ title: 'RUN' }, { title: 'STATUS' }, { title: 'AGENT' }, { title: 'CREATED' }, { title: 'QUESTION' }],
    page.runs.map((run) => [
      run.run_id,
      run.error_code === null ? run.status : `${run.status} ${run.error_code}`,
      run.agent,
      localTime(run.created_at),
      run.query_preview ?? '',
    ]),
  );
  if (page.next !== null) call.terminal.note(`More: --cursor ${page.next}`);
}

function showAnswer(call: Call, run: RunAnswer): void {
  const { terminal, isJson } = call;
  if (isJson) return terminal.json(run);
  terminal.fields({
    run: run.run_id,
    status: run.status,
    agent: run.agent,
    session: run.session_id,
    model: run.model,
    'finish reason': run.finish_reason,
    tokens: String(run.usage.total_tokens),
    cost: run.usage.cost == null ? undefined : String(run.usage.cost),
    error: run.error && `${run.error.code}: ${run.error.message}`,
    'forked from': run.forked_from,
  });
  for (const { iteration, action, action_input: input } of run.steps) {
    terminal.line(`  ${iteration}. ${action}${input == null ? '' : ` ${JSON.stringify(input)}`}`, 'dim');
  }
  if (run.waiting?.length) noteWaiting(call, run.run_id, run.waiting);
  if (run.result !== '') terminal.line(`\n${run.result}`);
}

/** The JSON text of an export, with the digits of its numbers. @throws JackdawError as the client */
export async function exportOf(connection: Connection, id: string): Promise<string> {
  const response = await connection.read(`/api/runs/${encodeURIComponent(id)}/export`);
  return response.ok ? response.text() : JSON.stringify(await connection.client.runs.export(id));
}

/** Writes into the file of `--output`, for this user only, or to standard output. */
export function writeJson(call: Call, value: unknown): void {
  const file = call.text('output');
  if (file === undefined) return call.terminal.json(value);
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
  call.terminal.note(`Written to ${file}.`);
}

/** JSON, or text that is no JSON. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function optional<T>(text: string | undefined, parse: (text: string) => T): T | undefined {
  return text === undefined ? undefined : parse(text);
}
