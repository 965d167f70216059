import { Injectable } from '@nestjs/common';
import { Tool, ToolState } from '../tool/method/index.js';

/** Numbers and flags may be strings, as models send them. */
interface ThoughtInput {
  readonly thought: string;
  readonly nextThoughtNeeded: boolean | string;
  readonly thoughtNumber: number | string;
  readonly totalThoughts: number | string;
  readonly isRevision?: boolean | string;
  readonly revisesThought?: number | string;
  readonly branchFromThought?: number | string;
  readonly branchId?: string;
  readonly needsMoreThoughts?: boolean | string;
}

interface Thought {
  readonly thought: string;
  readonly thoughtNumber: number;
  readonly totalThoughts: number;
  readonly nextThoughtNeeded: boolean;
  readonly isRevision?: boolean;
  readonly revisesThought?: number;
  readonly branchFromThought?: number;
  readonly branchId?: string;
  readonly needsMoreThoughts?: boolean;
}

/** Thoughts of a session. */
interface Thinking {
  /** Number of all thoughts, including removed ones. */
  readonly count: number;
  /** In order of creation. */
  readonly branches: readonly string[];
  /** The newest thoughts. */
  readonly thoughts: readonly Thought[];
}

/** Answer fields of the public sequential thinking server. */
interface ThoughtAnswer {
  readonly thoughtNumber: number;
  readonly totalThoughts: number;
  readonly nextThoughtNeeded: boolean;
  readonly branches: readonly string[];
  readonly thoughtHistoryLength: number;
}

const NOTHING_YET = { count: 0, branches: [], thoughts: [] };
/**
 * Maximum size of stored thoughts, in UTF-16 units. Every step contains the whole state, and a long session must not
 * fail.
 */
const MAX_STORED = 100_000;
const MAX_STATE_BYTES = 1024 * 1024;

const flag = (description: string) => ({ enum: [true, false, 'true', 'false', 'True', 'False'], description });
const number = (description: string) => ({
  type: ['integer', 'string'],
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  pattern: '^[1-9][0-9]{0,14}$',
  description,
});

/** Sequential thinking, stored per session; name, arguments and answers match the public sequential thinking server. */
@Injectable()
export class SequentialThinkingTools {
  // Effect `read`: a call changes only its own state, in the batch of its step, so a repeated call is harmless.
  @Tool({
    name: 'sequentialthinking',
    description:
      'Works on a hard problem thought by thought, one a call, and keeps them. Use it to plan, to analyse, and where an ' +
      'earlier step may turn out wrong. Guess how many thoughts it takes and correct totalThoughts as you proceed, also when ' +
      'it seemed done. Question your thoughts: revise a thought, or branch off to try another way. Make a hypothesis, ' +
      'check it against the thoughts, continue until it holds; only then end with nextThoughtNeeded false and give one answer.',
    effect: 'read',
    stateful: { initial: NOTHING_YET, maxStateBytes: MAX_STATE_BYTES },
    input: {
      type: 'object',
      properties: {
        thought: {
          type: 'string',
          description: 'Your current thought: a step, a doubt, a revision, a hypothesis, a check.',
        },
        nextThoughtNeeded: flag('Whether another thought follows.'),
        thoughtNumber: number('The number of this thought, from 1.'),
        totalThoughts: number('How many thoughts you expect in all.'),
        isRevision: flag('Whether it revises an earlier thought.'),
        revisesThought: number('The number of the thought that it revises.'),
        branchFromThought: number('The number of the thought that this branch begins at.'),
        branchId: { type: 'string', description: 'The name of the branch.' },
        needsMoreThoughts: flag('Whether more thoughts are needed than expected.'),
      },
      required: ['thought', 'nextThoughtNeeded', 'thoughtNumber', 'totalThoughts'],
    },
    output: {
      type: 'object',
      properties: {
        thoughtNumber: { type: 'number' },
        totalThoughts: { type: 'number' },
        nextThoughtNeeded: { type: 'boolean' },
        branches: { type: 'array', items: { type: 'string' } },
        thoughtHistoryLength: { type: 'number' },
      },
      required: ['thoughtNumber', 'totalThoughts', 'nextThoughtNeeded', 'branches', 'thoughtHistoryLength'],
    },
  })
  think(input: ThoughtInput, @ToolState() state: ToolState<Thinking>): ThoughtAnswer {
    const thought = toThought(input);
    const { count, branches, thoughts } = state.data;
    const thinking = {
      count: count + 1,
      branches: withBranch(branches, thought),
      thoughts: lastOf([...thoughts, thought]),
    };
    state.replace(thinking);
    return {
      thoughtNumber: thought.thoughtNumber,
      totalThoughts: thought.totalThoughts,
      nextThoughtNeeded: thought.nextThoughtNeeded,
      branches: asKeys(thinking.branches),
      thoughtHistoryLength: thinking.count,
    };
  }
}

function toThought(input: ThoughtInput): Thought {
  const { thought, branchId } = input;
  const thoughtNumber = Number(input.thoughtNumber);
  return {
    thought,
    thoughtNumber,
    totalThoughts: Math.max(thoughtNumber, Number(input.totalThoughts)),
    nextThoughtNeeded: isTrue(input.nextThoughtNeeded),
    ...(input.isRevision !== undefined && { isRevision: isTrue(input.isRevision) }),
    ...(input.revisesThought !== undefined && { revisesThought: Number(input.revisesThought) }),
    ...(input.branchFromThought !== undefined && { branchFromThought: Number(input.branchFromThought) }),
    ...(branchId !== undefined && { branchId }),
    ...(input.needsMoreThoughts !== undefined && { needsMoreThoughts: isTrue(input.needsMoreThoughts) }),
  };
}

function isTrue(said: boolean | string): boolean {
  return String(said).toLowerCase() === 'true';
}

/** A branch has a start thought and a name. */
function withBranch(branches: readonly string[], { branchFromThought, branchId }: Thought): readonly string[] {
  if (branchFromThought === undefined || !branchId || branches.includes(branchId)) return branches;
  return [...branches, branchId];
}

/** Order of object keys, integers first, as the public server returns them. */
function asKeys(branches: readonly string[]): string[] {
  return Object.keys(Object.fromEntries(branches.map((branch) => [branch, true])));
}

/** The newest thought, and as many earlier ones as fit. */
function lastOf(thoughts: readonly Thought[]): readonly Thought[] {
  let length = 0;
  const from = thoughts.findLastIndex(({ thought }) => (length += thought.length) > MAX_STORED) + 1;
  return thoughts.slice(Math.min(from, thoughts.length - 1));
}
