// Writes the table of README.md from results.json.        npm run bench:report [-- --check]
// `--check` writes nothing and fails if the table differs.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readResults } from './results.mjs';

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const README = new URL('README.md', import.meta.url);
const [BEGIN, END] = ['<!-- results:begin -->\n', '<!-- results:end -->\n'];

function render(results) {
  const machines = [...new Set(Object.values(results).map(({ machine }) => machine))];
  const letterOf = (machine) => String.fromCharCode('A'.charCodeAt(0) + machines.indexOf(machine));
  const lines = Object.entries(results).flatMap(([bench, { date, machine, commit, rows }]) =>
    rows.map(({ name, result, reference = '', ratio, ceiling = '' }) => {
      const cells = [bench, name, result, reference, ratio?.toFixed(2) ?? '', ceiling, date, commit, letterOf(machine)];
      return `| ${cells.join(' | ')} |`;
    }),
  );
  return [
    '<!-- prettier-ignore-start -->',
    '| bench | measurement | result | reference | ratio | ceiling | date | commit | machine |',
    '| --- | --- | --- | --- | ---: | --- | --- | --- | --- |',
    ...lines,
    '<!-- prettier-ignore-end -->',
    '',
    'Machines:',
    '',
    ...machines.map((machine) => `- ${letterOf(machine)}: ${machine}`),
    '',
  ].join('\n');
}

const page = readFileSync(README, 'utf8');
const [from, to] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
const written = `${page.slice(0, from)}\n${render(readResults())}\n${page.slice(to)}`;
if (!values.check) writeFileSync(README, written);
else if (written !== page) {
  console.error('The table of bench/README.md differs from bench/results.json; run `npm run bench:report`.');
  process.exitCode = 1;
}
