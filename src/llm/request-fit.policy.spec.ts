import { describe, expect, it } from 'vitest';
import { EFFORTS } from '../config/index.js';
import type { Message } from './chat/message.types.js';
import { fitImages, fitParameters, withNearestEffort } from './request-fit.policy.js';

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

const DATA = { type: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' } as const;
const LINK = { type: 'image', url: 'https://a.example/b.png' } as const;
const NOTE = '[An image that this model cannot see]';
const capabilities = (vision: boolean, imageUrls = true) => ({
  vision,
  imageUrls,
  functionCalling: true,
  jsonMode: true,
});
const plain: Message = { role: 'user', content: 'x' };
const shows: Message = { role: 'tool', toolCallId: 'c', name: 'plot', content: 'done', images: [DATA, LINK] };

describe('fitImages', () => {
  it('returns the same messages if the model can read all images', () => {
    const messages = [plain, shows, { role: 'user', content: [DATA] } as const];
    expect(fitImages(messages, capabilities(true))).toBe(messages);
    expect(fitImages([plain], capabilities(false))).toEqual([plain]);
  });

  it('replaces images by notes for a model without vision, in user messages and results', () => {
    const said: Message = { role: 'user', content: [DATA, { type: 'text', text: 'what?' }] };
    expect(fitImages([plain, said, shows], capabilities(false))).toEqual([
      plain,
      {
        role: 'user',
        content: [
          { type: 'text', text: NOTE },
          { type: 'text', text: 'what?' },
        ],
      },
      { role: 'tool', toolCallId: 'c', name: 'plot', content: `done\n${NOTE}\n${NOTE}` },
    ]);
  });

  it('keeps the images that the model can read', () => {
    expect(fitImages([shows], capabilities(true, false))).toEqual([
      { ...shows, content: `done\n${NOTE}`, images: [DATA] },
    ]);
  });
});

/** A GIF of the given size. */
function gif(width: number, height = 1, label = 'image/gif') {
  const bytes = Buffer.from('GIF89a\0\0\0\0');
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return { type: 'image', url: `data:${label};base64,${bytes.toString('base64')}` } as const;
}

describe('the images of a request', () => {
  const seeing = capabilities(true);

  it('get the media type of their bytes, also in a session that has stored another one', () => {
    const stored = [{ role: 'user', content: [gif(3, 3, 'image/png'), LINK] } as const, { ...shows, images: [gif(1)] }];
    expect(fitImages(stored, seeing)).toEqual([{ role: 'user', content: [gif(3, 3), LINK] }, stored[1]]);
    const capital = { ...gif(3), url: gif(3).url.replace('data', 'DATA') };
    expect(fitImages([{ role: 'user', content: [capital] }], capabilities(true, false))).toEqual([
      { role: 'user', content: [gif(3)] },
    ]);
  });

  it('are replaced by a note if their bytes are not an image', () => {
    const page = { type: 'image', url: 'data:image/png;base64,PGh0bWw+' } as const;
    const [said] = fitImages([{ role: 'user', content: [page] }], seeing);
    expect(said?.content).toMatchObject([{ text: expect.stringMatching(/^\[An image that cannot be read: .*PNG/) }]);
  });

  it.each([
    [{ maxSide: 8000 }, gif(8001), gif(8000, 8000), '8001 x 1 pixels'],
    [{ maxSide: 8000 }, gif(1, 8001), gif(1), '1 x 8001 pixels'],
    [{ maxBase64Bytes: 12 }, gif(1), DATA, '16 bytes'],
    [{ mediaTypes: ['image/png'] }, gif(1), DATA, 'it is image/gif'],
  ])('are replaced by a note beyond the limits %j of a provider', (imageLimits, beyond, within, reason) => {
    const limited = { ...seeing, imageLimits };
    const [said] = fitImages([{ role: 'user', content: [beyond, within, LINK] }], limited);
    expect(said?.content).toEqual([{ type: 'text', text: expect.stringContaining(reason) }, within, LINK]);
  });

  it('keep the latest ones if a request has too many', () => {
    const turns = Array.from({ length: 4 }, (_, at) => ({ role: 'user', content: [gif(at + 1)] }) as const);
    const retained = (imageLimits: object) =>
      fitImages(turns, { ...seeing, imageLimits }).map(({ content }) => (content[0] as { type: string }).type);
    expect(retained({ maxCount: 3 })).toEqual(['text', 'image', 'image', 'image']);
    expect(retained({ crowd: { above: 2, maxSide: 3 } })).toEqual(['text', 'text', 'image', 'image']);
    expect(retained({ crowd: { above: 2, maxSide: 4 } })).toEqual(['image', 'image', 'image', 'image']);
  });
});
