import { expect, it } from 'vitest';
import { capabilities, stops } from './model-option.parser.js';

const fault = 'is not allowed';

it.each([
  ['vision', { vision: true }],
  ['vision, functionCalling,!jsonMode', { vision: true, functionCalling: true, jsonMode: false }],
  ['!forcedToolChoice', { forcedToolChoice: false }],
])('reads the capabilities %j', (text, expected) => {
  expect(capabilities().parse(text)).toEqual(expected);
});

it.each(['sight', 'vision vision', 'vision,vision', 'vision,!vision', 'vision,', '!'])(
  'refuses the capabilities %j',
  (text) => {
    expect(() => capabilities().parse(text)).toThrow(fault);
  },
);

it.each([
  ['END', ['END']],
  ['a, b', ['a, b']],
  ['["END", "\\n\\n"]', ['END', '\n\n']],
])('reads the stops %j', (text, expected) => {
  expect(stops().parse(text)).toEqual(expected);
});

it.each(['[]', '[1]', '[""]', '["a"', JSON.stringify(Array(17).fill('a'))])('refuses the stops %j', (text) => {
  expect(() => stops().parse(text)).toThrow(fault);
});
