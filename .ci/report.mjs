// Summarises a JSON report of jest: `report.mjs <exit code of jest> <report>`. Prints the name of every failed and skipped
// test, then the counts on the last line. Exits with jest's code, or with 1 if a test failed or there is no report.
import { readFileSync } from 'node:fs';

const [, , code, file] = process.argv;

const say = (line) => process.stdout.write(`${line}\n`);
const hasFailed = ({ status }) => status === 'failed';
const hasPassed = ({ status }) => status === 'passed';
const isSkipped = ({ status }) => status === 'pending' || status === 'todo';

function readReport() {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function summarise({ testResults: suites }) {
  const tests = suites.flatMap(({ assertionResults }) => assertionResults);
  const skipped = tests.filter(isSkipped);
  for (const { fullName } of skipped) say(`skipped: ${fullName}`);
  for (const { fullName } of tests.filter(hasFailed)) say(`failed: ${fullName}`);
  // A file that cannot be loaded, or whose set-up fails, may have no failed test in it.
  const broken = suites.filter((suite) => hasFailed(suite) && !suite.assertionResults.some(hasFailed));
  for (const { name } of broken) say(`failed to run: ${name}`);
  const failed = tests.filter(hasFailed).length + broken.length;
  say(`${tests.filter(hasPassed).length} passed, ${failed} failed, ${skipped.length} skipped`);
  return Number(code) || Math.min(failed, 1);
}

const report = readReport();
if (!report) say(`jest ended with code ${code} and wrote no report: it died before its tests were done`);
process.exitCode = report ? summarise(report) : Number(code) || 1;
