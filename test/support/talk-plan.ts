import * as fc from 'fast-check';
import type { AgentDefinitionInput } from '../../src/agent/definition/index.js';
import type { SessionExport } from '../../src/session/index.js';
import { WRITERS } from './protocol-writer.js';

export interface PlannedCall {
  /** The name of a tool, or an unknown name. */
  readonly name: string;
  readonly id: string;
  /** The text of its result. */
  readonly text: string;
}

/** The model's reply to one further request. */
export interface PlannedReply {
  /**
   * `cut` reaches the length limit, `filtered` is withheld; `stop` gives no answer: the run is cancelled, or reaches its
   * deadline.
   */
  readonly kind: 'calls' | 'answer' | 'cut' | 'filtered' | 'blank' | 'error' | 'stop';
  readonly text: string;
  readonly calls: readonly PlannedCall[];
}

export interface PlannedTurn {
  readonly kind: 'turn';
  readonly query: string;
  readonly agent: TalkAgent;
  readonly replies: readonly PlannedReply[];
  /** The model's summary of evicted turns; `null` fails. */
  readonly summary: string | null;
  readonly references: readonly number[];
}

/** An event of a conversation. */
export type TalkEvent =
  | PlannedTurn
  | { readonly kind: 'fork'; readonly turn: PlannedTurn }
  | { readonly kind: 'pin'; readonly turn: number }
  | { readonly kind: 'clear' }
  | { readonly kind: 'restart' };

export interface Talk {
  /** The imported turns at the start; `null` without an import. */
  readonly imported: SessionExport['turns'] | null;
  readonly events: readonly TalkEvent[];
}

/** The agent of a turn, by its distinguishing settings. */
export interface TalkAgent {
  readonly protocol: keyof typeof WRITERS;
  readonly policy: string;
  readonly includeToolCalls: boolean;
  readonly isSmall: boolean;
  readonly isHasty: boolean;
}

const PROTOCOLS = Object.keys(WRITERS) as (keyof typeof WRITERS)[];
const POLICIES = ['sliding_window', 'fixed_window', 'lru', 'token_budget', 'summary', 'off'];
const BOTH = [true, false];
/** Deadline of a run of a hasty agent, in ms. */
const SOON = 60;

export function nameOf({ protocol, policy, includeToolCalls, isSmall, isHasty }: TalkAgent): string {
  const calls = includeToolCalls ? 'calls' : 'plain';
  return [protocol, policy, calls, isSmall ? 'small' : 'large', isHasty ? 'hasty' : 'patient'].join('-');
}

/** Every agent that a talk may name. */
export function talkAgents(): AgentDefinitionInput[] {
  return PROTOCOLS.flatMap((protocol) =>
    POLICIES.flatMap((policy) =>
      BOTH.flatMap((includeToolCalls) =>
        BOTH.flatMap((isSmall) =>
          BOTH.map((isHasty) => toAgent({ protocol, policy, includeToolCalls, isSmall, isHasty })),
        ),
      ),
    ),
  );
}

function toAgent(agent: TalkAgent): AgentDefinitionInput {
  const { protocol, policy, includeToolCalls, isSmall, isHasty } = agent;
  return {
    name: nameOf(agent),
    model: { provider: 'openai' },
    protocol,
    ...(!isSmall && { instructions: 'Be kind.' }),
    memory: {
      ...(policy === 'off' ? { enabled: false } : { policy }),
      includeToolCalls,
      ...(isSmall && { maxMessages: 7, maxContextTokens: 90, keepFirst: 3 }),
    },
    limits: { maxIterations: 3, ...(isHasty && { runTimeoutMs: SOON }) },
  };
}

const agent = fc.record<TalkAgent>({
  protocol: fc.constantFrom('native', 'native', ...PROTOCOLS),
  policy: fc.constantFrom(...POLICIES),
  includeToolCalls: fc.boolean(),
  isSmall: fc.boolean(),
  isHasty: fc.integer({ min: 0, max: 7 }).map((n) => n === 0),
});

const BLANKS = ['', ' ', '\n\n', '\u00a0'];
const WORDS = ['hello', 'a word ', 'Observation: 1', '<invoke name="good">', '"quoted" \\', '日本語', 'x'.repeat(300)];
const said = fc.constantFrom(...WORDS);
const anything = fc.constantFrom(...WORDS, ...BLANKS);
/** Few ids, so that they repeat; some servers without ids generate such. */
const id = fc.constantFrom('call_0', 'call_0', 'call_1', 'a', 'call_1_1', 'call_0_2');
const toolName = fc.constantFrom(
  'good',
  'good',
  'good',
  'bad',
  'bad',
  'pay',
  'unknown',
  'multi_tool_use.parallel',
  'a b'.repeat(40),
);

const call = fc.record<PlannedCall>({ name: toolName, id, text: anything });
const hanging = fc.record<PlannedCall>({ name: fc.constant('hang'), id, text: anything });
const calls = fc.oneof(
  { weight: 9, arbitrary: fc.array(call, { minLength: 1, maxLength: 3 }) },
  { weight: 1, arbitrary: fc.tuple(call, hanging) },
);

const reply = fc.record<PlannedReply>({
  kind: fc.constantFrom('calls', 'calls', 'calls', 'calls', 'answer', 'cut', 'filtered', 'blank', 'error', 'stop'),
  text: anything,
  calls,
});

const turn = fc.record<PlannedTurn>({
  kind: fc.constant('turn'),
  query: said,
  agent,
  replies: fc.array(reply, { maxLength: 3 }),
  summary: fc.constantFrom('They talked.', ' ', null),
  references: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 2 }),
});

const event: fc.Arbitrary<TalkEvent> = fc.oneof(
  { weight: 16, arbitrary: turn },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fork' as const), turn }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pin' as const), turn: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'clear' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
);

type ExportedMessage = SessionExport['turns'][number]['messages'][number];

const parts = fc.array(fc.record({ type: fc.constant('text' as const), text: anything }), { maxLength: 2 });
const exportedCall = fc.record({ id, name: toolName, arguments: fc.constantFrom('{}', '{"text":"x"}', 'no JSON') });
/** Valid or damaged, in any order. */
const message: fc.Arbitrary<ExportedMessage> = fc.oneof(
  fc.record({ role: fc.constant('system' as const), content: anything }),
  fc.record({ role: fc.constant('user' as const), content: fc.oneof(anything, parts) }),
  fc.record({
    role: fc.constant('assistant' as const),
    content: anything,
    tool_calls: fc.oneof(fc.constant(undefined), fc.array(exportedCall, { maxLength: 3 })),
  }),
  fc.record({ role: fc.constant('tool' as const), tool_call_id: id, name: toolName, content: anything }),
);

const imported = fc
  .array(fc.array(message, { minLength: 1, maxLength: 5 }), { maxLength: 4 })
  .map((turns): SessionExport['turns'] =>
    turns.map((messages, at) => ({ run_id: `imported-${at}`, status: 'completed', created_at: at, messages })),
  );

export const talks: fc.Arbitrary<Talk> = fc.record({
  imported: fc.option(imported, { freq: 2 }),
  events: fc.array(event, { minLength: 1, maxLength: 8 }),
});
