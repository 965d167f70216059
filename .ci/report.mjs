// Summarises the report of reporter.mjs: `report.mjs <exit code of Vitest> <report>`. Prints the name of every failed and
// skipped test, then the counts on the last line. Exits with Vitest's code, or with 1 if a test failed or there is no report.
import { readFileSync } from 'node:fs';

const [, , code, file] = process.argv;

const say = (line) => process.stdout.write(`${line}\n`);

function readReport() {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function summarise({ passed, failed, skipped }) {
  for (const name of skipped) say(`skipped: ${name}`);
  for (const name of failed) say(`failed: ${name}`);
  say(`${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
  return Number(code) || Math.min(failed.length, 1);
}

const report = readReport();
if (!report) say(`Vitest ended with code ${code} and wrote no report: it died before its tests were done`);
process.exitCode = report ? summarise(report) : Number(code) || 1;
