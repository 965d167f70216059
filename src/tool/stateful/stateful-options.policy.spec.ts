import { describe, expect, it } from 'vitest';
import { statefulProblems } from './stateful-options.policy.js';

describe('statefulProblems()', () => {
  it.each<[unknown, readonly RegExp[]]>([
    [{ maxStateBytes: 4_194_304, maxHistory: 0, maxVersions: 0, ttlMs: 1 }, []],
    [{ maxStateBytes: 4_194_305 }, [/^its stateful.maxStateBytes is 4194305: use a whole number from 2 to 4194304$/]],
    [{ maxStateBytes: 1 }, [/from 2 to 4194304/]],
    [
      { maxHistory: 1.5, conflict: 'none' },
      [/maxHistory is 1.5: use a whole number from 0/, /"none": use "last_write/],
    ],
    [3, [/neither true, false nor an object/]],
  ])('reports all problems of %j', (stateful, problems) => {
    expect(statefulProblems(stateful)).toEqual(problems.map((problem) => expect.stringMatching(problem)));
  });
});
