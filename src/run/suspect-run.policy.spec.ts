import { describe, expect, it } from 'vitest';
import { separateSuspects, type CrashedRun } from './suspect-run.policy.js';

const NOW = 1_800_000_000_000;

function aRun(id: string, more: Partial<CrashedRun> = {}): CrashedRun {
  return { id, epoch: 1, status: 'running', attempts: 0, suspicions: 0, recoveredAt: null, lineage: null, ...more };
}

/** The crashes of each suspect, by run id. */
function suspectsAmong(...runs: CrashedRun[]): Record<string, number> {
  return Object.fromEntries(separateSuspects(runs, NOW).suspects.map(({ run, crashes }) => [run.id, crashes]));
}

describe('separateSuspects', () => {
  const recent = { attempts: 1, recoveredAt: NOW - 59_000 };

  it('suspects no run after a first crash, or after a second one that comes later than 60 s', () => {
    expect(suspectsAmong(aRun('a'), aRun('b', { attempts: 1, recoveredAt: NOW - 60_000 }))).toEqual({});
  });

  it('suspects all runs in flight after a second crash within 60 s, but no queued run', () => {
    expect(suspectsAmong(aRun('a', recent), aRun('new'), aRun('q', { status: 'queued' }))).toEqual({ a: 2, new: 1 });
  });

  it('suspects a run that crashed three times without a step, however slowly', () => {
    expect(suspectsAmong(aRun('a', { attempts: 2 }), aRun('b'))).toEqual({ a: 2 });
  });

  it('counts a third crash only for the only suspect in flight', () => {
    const tested = { attempts: 2, suspicions: 1, recoveredAt: NOW - 1 };
    const waiting = aRun('later', { ...tested, status: 'queued' });
    expect(suspectsAmong(aRun('a', tested), waiting, aRun('new'))).toEqual({ a: 3, later: 2, new: 1 });
    expect(suspectsAmong(aRun('a', tested), aRun('b', tested))).toEqual({ a: 2, b: 2 });
  });

  it('counts a crash of suspects that never start alone, after six suspicions', () => {
    const twins = (suspicions: number) =>
      ['a', 'b'].map((id) => aRun(id, { attempts: 2, suspicions, recoveredAt: NOW - 1 }));
    expect(suspectsAmong(...twins(5))).toEqual({ a: 2, b: 2 });
    expect(suspectsAmong(...twins(6))).toEqual({ a: 3, b: 3 });
  });

  it('counts the third crash of a child run, although its caller is in flight too', () => {
    const tested = { attempts: 2, suspicions: 1, recoveredAt: NOW - 1 };
    const child = aRun('child', { ...tested, lineage: { parentRunId: 'caller' } });
    expect(suspectsAmong(aRun('caller', tested), child)).toEqual({ caller: 2, child: 3 });
  });

  it('returns those with the most suspicions, then crashes, first; of equal ones the last that resumed', () => {
    const tested = { attempts: 2, suspicions: 1 };
    const runs = [
      aRun('new'),
      aRun('again', recent),
      aRun('waiting', { ...tested, status: 'queued', recoveredAt: NOW }),
      aRun('early', { ...tested, recoveredAt: NOW - 5_000 }),
      aRun('last', { ...tested, recoveredAt: NOW - 300 }),
    ];
    const { suspects } = separateSuspects(runs, NOW);
    expect(suspects.map(({ run }) => run.id)).toEqual(['last', 'early', 'again', 'waiting', 'new']);
    expect(suspects.map(({ suspicions }) => suspicions)).toEqual([2, 2, 1, 1, 1]);
  });
});
