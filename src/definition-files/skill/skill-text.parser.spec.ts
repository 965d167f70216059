import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { readSkillText } from './skill-text.parser.js';

const read = (text: string) => readSkillText('skills/pay/SKILL.md', 'pay', text, load);

describe('a SKILL.md', () => {
  it('has front matter and instructions', () => {
    const text =
      '---\r\nname: pay\ndescription: >-\n  Pays bills:\n  small ones\nlicense: MIT\ncompatibility: any\n' +
      'allowed-tools: Bash(git:*)\nversion: 2\nmetadata:\n  author: desk\n  major: 1\n  deep: [a]\n---\n\n# Pay\n---\nDo it.\n';
    expect(read(text)).toEqual({
      skill: {
        name: 'pay',
        description: 'Pays bills: small ones',
        license: 'MIT',
        compatibility: 'any',
        metadata: { author: 'desk', major: '1' },
        text: '# Pay\n---\nDo it.',
      },
    });
  });

  it.each([
    ['Text only.', [':1: expected front matter between two lines ---']],
    ['---\nname: pay\n', [':1: the front matter has no end: expected a second line ---']],
    ['---\n- a\n---\nx', [':2: expected fields: name: …, description: …']],
    ['---\nname: pay\ndescription: a: b\n---\nx', [':3: the front matter is not YAML: ']],
    ['---\nname: pay\ndescription: x\n---\n \n', [':4: expected instructions after the front matter']],
    [
      '---\ndescription: ""\nname: Pay Day\n---\nx',
      [':3: name: expected at most 64 of the characters a-z', ':2: description: expected a text that is not blank'],
    ],
    ['---\nname: 5\n---\nx', [':2: name: expected a text', ':1: description: expected a text that is not blank']],
    [
      '---\nname: pays\ndescription: x\n---\nx',
      [':2: name: it is "pays", and its folder is "pay": give both one name'],
    ],
    [
      `---\nname: pay\ndescription: ${'x'.repeat(1025)}\n---\nx`,
      [':3: description: it has 1025 characters; at most 1024 are allowed'],
    ],
  ])('has mistakes with their lines: %j', (text, mistakes) => {
    const reading = read(text);
    const found = 'mistakes' in reading ? reading.mistakes : [];
    const lines = found.map((line) => line.replace('skills/pay/SKILL.md', ''));
    expect(lines.map((line, at) => line.slice(0, mistakes[at]?.length))).toEqual(mistakes);
  });
});
