import { expect, it } from 'vitest';
import { EFFORTS } from '../config/index.js';
import { fitParameters, withNearestEffort } from './parameter.policy.js';

it('accepts all defined parameters without limits', () => {
  const parameters = { temperature: 2, topP: 1, stop: ['a', 'b', 'c', 'd', 'e'], seed: 1 };
  expect(fitParameters({ ...parameters, maxTokens: undefined }, {})).toEqual({ taken: parameters, refused: [] });
});

it('rejects unsupported and excessive parameters with a reason', () => {
  const limits = { lacking: ['seed', 'frequencyPenalty'], maxTemperature: 1, maxStops: 1 } as const;
  const given = { temperature: 1.5, seed: 7, stop: ['a', 'b'], maxTokens: 9, presencePenalty: 0 };
  expect(fitParameters(given, limits)).toEqual({
    taken: { maxTokens: 9, presencePenalty: 0 },
    refused: [
      { name: 'temperature', reason: 'a temperature of 1 at most' },
      { name: 'seed', reason: 'no seed' },
      { name: 'stop', reason: '1 in stop at most' },
    ],
  });
  expect(fitParameters({ temperature: 1, stop: ['a'] }, limits).refused).toEqual([]);
});

it('supports models that accept a temperature or topP, but not both', () => {
  const limits = { isOneOfTemperatureAndTopP: true };
  expect(fitParameters({ topP: 0.5 }, limits).taken).toEqual({ topP: 0.5 });
  expect(fitParameters({ topP: 0.5, temperature: 0 }, limits)).toEqual({
    taken: { temperature: 0 },
    refused: [{ name: 'topP', reason: 'no topP beside a temperature' }],
  });
});

it('refuses an effort only if the model has none, or cannot stop reasoning', () => {
  const reasons = (efforts: readonly (typeof EFFORTS)[number][] | undefined, effort: (typeof EFFORTS)[number]) =>
    fitParameters({ effort }, efforts ? { efforts } : {}).refused.map(({ reason }) => reason);
  expect(reasons(undefined, 'max')).toEqual([]);
  expect(reasons([], 'low')).toEqual(['no effort']);
  expect(reasons([], 'none')).toEqual(['no effort']);
  expect(reasons(['low', 'high'], 'none')).toEqual(['an effort of low, high only']);
  expect(reasons(['none', 'high'], 'low')).toEqual([]);
});

it('maps an effort to the nearest level, never to or from none', () => {
  const mapped = (efforts: readonly (typeof EFFORTS)[number][]) =>
    EFFORTS.map((effort) => withNearestEffort({ effort }, { efforts }).effort);
  expect(mapped(['low', 'medium', 'high'])).toEqual(['none', 'low', 'low', 'medium', 'high', 'high', 'high']);
  expect(mapped(['none', 'high'])).toEqual(['none', 'high', 'high', 'high', 'high', 'high', 'high']);
  expect(mapped(['low', 'high', 'max'])).toEqual(['none', 'low', 'low', 'high', 'high', 'max', 'max']);
  expect(withNearestEffort({ effort: 'minimal' }, {}).effort).toBe('minimal');
  expect(withNearestEffort({ seed: 1 }, { efforts: ['low'] })).toEqual({ seed: 1 });
});

it('takes no temperature beside an effort if the model requires that', () => {
  const limits = { hasNoSamplingBesideEffort: true };
  expect(fitParameters({ temperature: 1, topP: 1, effort: 'low' }, limits).refused).toEqual([
    { name: 'temperature', reason: 'no temperature beside an effort' },
    { name: 'topP', reason: 'no topP beside an effort' },
  ]);
  expect(fitParameters({ temperature: 1, effort: 'none' }, limits).refused).toEqual([]);
});
