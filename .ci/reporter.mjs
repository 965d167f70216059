// Reporter of Vitest: writes the count of passed tests, and the names of those that failed or were skipped, to the file
// TEST_REPORT for report.mjs.
import { writeFileSync } from 'node:fs';

const hasErrors = (container) => container.errors().length > 0;

function nameOf(entity) {
  return entity.type === 'module' ? entity.relativeModuleId : `${entity.module.relativeModuleId} > ${entity.fullName}`;
}

/** The suites around a test, and its file. */
function containersOf(test) {
  const containers = [];
  for (let at = test.parent; at; at = at.parent) containers.push(at);
  return containers;
}

/** A test does not run if its set-up fails or its worker ends: it has failed. */
function outcomeOf(test) {
  const { state } = test.result();
  if (state !== 'skipped') return state === 'passed' ? 'passed' : 'failed';
  return containersOf(test).some(hasErrors) ? 'failed' : 'skipped';
}

/** A file that cannot be loaded, or a suite whose clean-up fails, may have no failed test in it. */
function isBroken(container) {
  return hasErrors(container) && ![...container.children.allTests()].some((test) => outcomeOf(test) === 'failed');
}

export default class CountReporter {
  onTestRunStart(files) {
    this.files = new Set(files.map(({ moduleId }) => moduleId));
  }

  onTestRunEnd(modules, unhandledErrors) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const named = (outcome) => tests.filter((test) => outcomeOf(test) === outcome).map(nameOf);
    const broken = modules.flatMap((module) => [module, ...module.children.allSuites()]).filter(isBroken);
    // A worker that ends may leave files that never start.
    const missing = this.files.difference(new Set(modules.map(({ moduleId }) => moduleId)));
    const errors = unhandledErrors.map(({ message }) => message);
    const failed = [...named('failed'), ...broken.map(nameOf), ...missing, ...errors];
    const report = { passed: named('passed').length, failed, skipped: named('skipped') };
    writeFileSync(process.env.TEST_REPORT, JSON.stringify(report));
  }
}
