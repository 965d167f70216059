import { expect, it } from '@jest/globals';
import { fitParameters } from './wire/wire-chat.model.js';

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
