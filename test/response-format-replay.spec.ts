import { afterAll, beforeAll, expect, it } from 'vitest';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../src/errors/index.js';
import type { ReasoningOutcome } from '../src/reasoning/reasoning.types.js';
import type { RunOutcome } from '../src/run/index.js';
import { MemoryRunContext, type RunContext } from '../src/run/context/index.js';
import { endsStream } from '../src/run/event/run-event.types.js';
import { SecurityPolicies } from '../src/tool-policy/index.js';
import { schemaChecker } from '../src/tool/bounded/schema-checker.js';
import { MortalDatabase } from './support/mortal-database.js';
import { mortalModel, reasonIn } from './support/reasoned-run.js';
import { ALICE, aRun, completed, openDatabase, RunHost, type OpenDatabase } from './support/run-host.js';
import { says, ScriptedChatModel } from './support/scripted-chat-model.js';

const REPLIES = ['Well…', '{"n": "one"}', '{"n": 1}'];
const properties = { n: { type: 'integer', minimum: 1 } };
const responseFormat = { schema: { type: 'object', properties, required: ['n'] } };
/** The masked answer violates its schema, since 0 is less than 1. */
const MASKED = { content: { patterns: [{ name: 'one', pattern: '^1$', output: 'mask' as const }] } };

let opened: OpenDatabase;
const processes: MortalDatabase[] = [];
beforeAll(async () => void (opened = await openDatabase()));
afterAll(async () => {
  for (const process of processes) process.bury();
  await opened.close();
  schemaChecker.release();
});

const deaths = [0, 1, 2, 3, 4].flatMap((commits) => [true, false].map((isDurable) => ({ commits, isDurable })));
const cases = deaths.flatMap((death) => [false, true].map((isMasked) => ({ ...death, isMasked })));
it.each(cases)(
  'replays a corrected answer after a crash ($commits, $isDurable, masked: $isMasked)',
  async ({ isMasked, ...death }) => {
    const id = `run-${death.commits}-${death.isDurable}-${isMasked}`;
    const policies = await SecurityPolicies.open(undefined, isMasked ? MASKED : undefined);
    const asked: number[] = [];
    let outcome: ReasoningOutcome | undefined;
    async function execute(context: RunContext, process: MortalDatabase): Promise<RunOutcome> {
      const model = mortalModel(process, (corrections) => {
        asked.push(corrections);
        return says(REPLIES[corrections]!);
      });
      const limits = { maxIterations: 3, maxResultBytes: 1000 };
      outcome = await reasonIn(context, { model, tools: [], responseFormat, limits, isStreaming: true }, { policies });
      return completed(context.runId);
    }
    for (const given of [death, undefined]) {
      const mortal = new MortalDatabase(opened.database, given);
      processes.push(mortal);
      const host = new RunHost(mortal);
      host.scripts.set(id, (context) => execute(context, mortal));
      const ended = new Promise<void>((resolve) => {
        host.bus.subscribe(id, ({ event }) => endsStream(event) && resolve());
      });
      const [run] = await opened.database.query<{ status: string }>('SELECT status FROM run WHERE id = ?', [id]);
      if (run?.status === 'completed') break;
      if (run) await Promise.race([host.dispatcher.recover(), mortal.died]);
      else void host.runs.start(aRun(id)).catch(() => undefined);
      await Promise.race([ended, mortal.died]);
      if (!mortal.isDead) break;
    }
    expect(outcome).toMatchObject({
      finishReason: 'stop',
      output: { n: isMasked ? 0 : 1 },
      iterations: 3,
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: isMasked ? '{"n": 0}' : '{"n": 1}' },
      ],
    });
    expect([...new Set(asked)]).toEqual([0, 1, 2]);
    expect(asked.length).toBeLessThanOrEqual(4);
    const steps = (await new RunHost(opened.database).journal.steps(id)).map(({ name }) => name);
    expect(steps).toEqual(['model:1', 'model:1:r1', 'model:1:r2']);
  },
);

it('does not wait for the check of an answer after a cancel', async () => {
  const endless = { type: 'object', properties: { a: { type: 'string', pattern: '^(?=a)(a+)+$' } } };
  const controller = new AbortController();
  const context = new MemoryRunContext(ALICE, controller.signal);
  const model = new ScriptedChatModel([says(JSON.stringify({ a: `${'a'.repeat(40)}!` }))]);
  const outcome = reasonIn(context, { model, tools: [], responseFormat: { schema: endless } });
  while (model.answers.length === 0) await nextTurn();
  await nextTurn();
  controller.abort(new AppError('RUN_CANCELLED', 'The run was cancelled.'));
  // The check itself is abandoned after 2,000 ms: thousands of turns of the event loop.
  const hundredTurns = async () => {
    for (let turn = 0; turn < 100; turn++) await nextTurn();
  };
  expect(await Promise.race([outcome, hundredTurns()])).toMatchObject({ finishReason: 'cancelled' });
});
