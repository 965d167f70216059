// What jest's reports come to. `failed <report>` prints the files in which something failed, one a line;
// `total <code> <report> [<report>]` prints what was skipped, what passed only when it was run again, and the counts of
// both runs as one, and exits with 1 (or jest's own code) when anything failed in the last run of its file.
import { readFileSync } from 'node:fs';

const [, , what, ...rest] = process.argv;

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

const hasFailed = ({ status }) => status === 'failed';
const named = (suite) => suite.name.replace(`${process.cwd()}/`, '');

function total(code, first, second) {
  if (!first) {
    console.log(`jest ended with code ${code} and left no result: it died before its tests were done`);
    return Number(code) || 1;
  }
  const again = new Map((second?.testResults ?? []).map((suite) => [suite.name, suite]));
  for (const suite of first.testResults.filter(hasFailed)) {
    const { status } = again.get(suite.name) ?? suite;
    if (status !== 'failed') console.log(`unsteady: ${named(suite)} failed beside others, and passed alone`);
  }
  const suites = first.testResults.map((suite) => again.get(suite.name) ?? suite);
  const tests = suites.flatMap(({ assertionResults }) => assertionResults);
  const skipped = tests.filter(({ status }) => status === 'pending' || status === 'todo');
  for (const { fullName } of skipped) console.log(`skipped: ${fullName}`);
  const failed = tests.filter(hasFailed).length;
  const passed = tests.filter(({ status }) => status === 'passed').length;
  // A file that cannot even be loaded, or whose set-up fails, may have no failed test in it, but failed it has.
  const broken = suites.filter((suite) => hasFailed(suite) && !suite.assertionResults.some(hasFailed)).length;
  console.log(`${passed} passed, ${failed + broken} failed, ${skipped.length} skipped`);
  return Number(code) || (failed + broken > 0 ? 1 : 0);
}

if (what === 'failed') {
  for (const suite of read(rest[0])?.testResults.filter(hasFailed) ?? []) console.log(suite.name);
} else {
  const [code, ...files] = rest;
  process.exitCode = total(code, ...files.map(read));
}
