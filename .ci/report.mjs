// What jest's reports come to. `failed <report>` prints the files in which something failed, one a line;
// `total <code> <report> [<report>]` prints what was skipped, what passed only when it was run again, and the counts of
// both runs as one, and exits with jest's code, or 1 when anything failed in the last run of its file.
import { readFileSync } from 'node:fs';

const [, , what, ...rest] = process.argv;

const say = (line) => process.stdout.write(`${line}\n`);
const hasFailed = ({ status }) => status === 'failed';
const isSkipped = ({ status }) => status === 'pending' || status === 'todo';
const hasPassed = ({ status }) => status === 'passed';

function suitesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).testResults;
  } catch {
    return undefined;
  }
}

/** The suites as they ended; says which of them did better alone. */
function merged(first, second = []) {
  const again = new Map(second.map((suite) => [suite.name, suite]));
  const isMended = (suite) => hasFailed(suite) && !hasFailed(again.get(suite.name) ?? suite);
  for (const { name } of first.filter(isMended)) say(`unsteady: ${name} failed beside others, and passed alone`);
  return first.map((suite) => again.get(suite.name) ?? suite);
}

function total(code, first, second) {
  if (!first) {
    say(`jest ended with code ${code} and left no result: it died before its tests were done`);
    return code || 1;
  }
  const suites = merged(first, second);
  const tests = suites.flatMap(({ assertionResults }) => assertionResults);
  const skipped = tests.filter(isSkipped);
  for (const { fullName } of skipped) say(`skipped: ${fullName}`);
  // A file that cannot even be loaded, or whose set-up fails, may have no failed test in it, but failed it has.
  const broken = suites.filter((suite) => hasFailed(suite) && !suite.assertionResults.some(hasFailed));
  const failed = tests.filter(hasFailed).length + broken.length;
  say(`${tests.filter(hasPassed).length} passed, ${failed} failed, ${skipped.length} skipped`);
  return code || Math.min(failed, 1);
}

if (what === 'failed') {
  for (const { name } of suitesOf(rest[0])?.filter(hasFailed) ?? []) say(name);
} else {
  const [code, ...reports] = rest;
  process.exitCode = total(Number(code), ...reports.map(suitesOf));
}
