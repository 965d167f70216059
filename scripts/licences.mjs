// Checks that each package of a production installation has a permitted licence (part of `npm run check`).
//   npm run licences                     lists packages without a permitted licence, and fails if there are any
// `--root folder` checks another project.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { root: { type: 'string', default: '.' } } });

/** SPDX names of licences without conditions on programs that use the package. */
const PERMITTED = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Python-2.0',
  'Unlicense',
]);

const readJson = (path) => JSON.parse(readFileSync(join(values.root, path), 'utf8'));

/** Whether an SPDX expression permits the use under listed licences only: with OR one of them suffices. */
function isPermitted(licence) {
  if (typeof licence !== 'string') return false;
  const choices = licence.replace(/^\((.*)\)$/, '$1').split(' OR ');
  return choices.some((choice) => choice.split(' AND ').every((name) => PERMITTED.has(name)));
}

/** Old packages have a list of choices. */
function licenceOf({ license, licenses }) {
  return license ?? licenses?.map(({ type }) => type).join(' OR ');
}

/** The fault of a package, if any. Optional packages of other platforms are not installed: their lock entry counts. */
function faultOf(path, { optional = false, license }) {
  const isInstalled = existsSync(join(values.root, path, 'package.json'));
  if (!isInstalled && !optional) return 'it is not installed: run `npm ci`';
  if (!isInstalled && license === undefined) return undefined;
  const licence = isInstalled ? licenceOf(readJson(join(path, 'package.json'))) : license;
  if (isPermitted(licence)) return undefined;
  return licence === undefined ? 'it names no licence' : `its licence is ${JSON.stringify(licence)}`;
}

const production = Object.entries(readJson('package-lock.json').packages).filter(
  ([path, { dev = false, link = false }]) => path !== '' && !dev && !link,
);
let faults = 0;
for (const [path, entry] of production) {
  const fault = faultOf(path, entry);
  if (fault === undefined) continue;
  faults++;
  console.error(`${path.split('node_modules/').at(-1)}: ${fault}`);
}
if (faults > 0) {
  console.error('Replace these packages, or add their licence to scripts/licences.mjs if it sets no conditions.');
  process.exitCode = 1;
} else console.log(`${production.length} packages have permitted licences`);
