// Counts phrases of the project's former private idiom in comments, strings, docs and test titles.
//   npm run language                             fails where a count rose above its ratchet (part of `npm run check`)
//   node scripts/language.mjs --list [path…]     prints every occurrence, in all files or in files below the paths
//   node scripts/language.mjs --write            lowers the ratchet to today's counts
// `--root folder` checks another project. The phrases are in banned-phrases.json, the ratchet in language-ratchet.json:
// `folders` has the highest count of each top-level folder, `files` the files that may have any. A file that is not in
// `files` must have none.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { parseArgs } from 'node:util';
import ts from 'typescript';

const { values, positionals } = parseArgs({
  options: {
    list: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    root: { type: 'string', default: '.' },
  },
  allowPositionals: true,
});

const RATCHET = join(values.root, 'scripts/language-ratchet.json');
const FILES = [
  '**/*.{ts,mjs,cjs,md,json,jsonc,yaml,xsd,example}',
  '.ci/*',
  '.*.mjs',
  '.github/**/*.{md,yml}',
  '.*.json',
];
/** Generated files, the lists of this check, and its own spec. */
const EXCLUDED =
  /^(?:node_modules|dist|data|coverage|bench\/results)\/|^package-lock\.json$|^scripts\/(?:banned-phrases|language-ratchet)\.json$|^src\/openapi-metadata\.ts$|^test\/language\.spec\.ts$/;

/** Specs with tables of requests to the offline model, as users write them. Strings in their arrays are exempt. */
const USER_REQUESTS = new Set([
  'src/llm/providers/offline/expression.parser.spec.ts',
  'src/llm/providers/offline/offline-requests.spec.ts',
  'test/offline.spec.ts',
]);

/** [pattern, words to use instead]. A phrase inside a question ("What is 6 * 7?") is not meant. */
const PHRASES = JSON.parse(readFileSync(new URL('banned-phrases.json', import.meta.url), 'utf8')).map(
  ([pattern, instead]) => ({ pattern: new RegExp(pattern, 'giu'), instead }),
);

/** The text with every comment and every literal in its place, and all code replaced by spaces. */
function readableCode(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  const code = text.split('');
  const visible = text.replace(/[^\n]/g, ' ').split('');
  const move = (from, to, isReadable) => {
    for (let at = from; at < to; at++) {
      if (isReadable) visible[at] = text[at];
      if (text[at] !== '\n') code[at] = ' ';
    }
  };
  const specifiers = new Set(source.statements.map(({ moduleSpecifier }) => moduleSpecifier));
  const isUserRequest = ({ parent }) => USER_REQUESTS.has(path) && ts.isArrayLiteralExpression(parent);
  const visit = (node) => {
    const isLiteral = ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node);
    if (isLiteral) move(node.getStart(source), node.end, !specifiers.has(node) && !isUserRequest(node));
    else if (ts.isRegularExpressionLiteral(node)) move(node.getStart(source), node.end, false);
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(source, visit);
  for (const { index, 0: comment } of code.join('').matchAll(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g)) {
    move(index, index + comment.length, true);
  }
  return visible.join('');
}

function readableText(path) {
  const text = readFileSync(join(values.root, path), 'utf8');
  return /\.(?:ts|mjs|cjs)$/.test(path) ? readableCode(path, text) : text;
}

/** Every banned phrase of a text, with its line. */
function findings(text) {
  // A phrase may be broken over lines of a comment or paragraph.
  const flat = text.replace(/\n[ \t]*(?:\*|\/\/|#)?[ \t]*/g, (gap) => `\n${' '.repeat(gap.length - 1)}`);
  // `begun:${place}` is a name in stored journals, which cannot change.
  const isStoredName = ({ index, 0: phrase }) => flat.startsWith(':${', index + phrase.length);
  return PHRASES.flatMap(({ pattern, instead }) =>
    Array.from(flat.matchAll(pattern))
      .filter((match) => !isStoredName(match))
      .map(({ index, 0: phrase }) => ({
        line: text.slice(0, index).split('\n').length,
        phrase: phrase.replace(/\s+/g, ' '),
        instead,
      })),
  ).toSorted((a, b) => a.line - b.line);
}

const folderOf = (path) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '.');

const paths = globSync(FILES, { cwd: values.root, exclude: (path) => path === 'node_modules' || path === 'dist' })
  .map((path) => path.replaceAll(sep, '/'))
  .filter((path) => !EXCLUDED.test(path))
  .toSorted();
const found = new Map(paths.map((path) => [path, findings(readableText(path))]).filter(([, list]) => list.length > 0));
const folders = {};
for (const [path, list] of found) folders[folderOf(path)] = (folders[folderOf(path)] ?? 0) + list.length;

const say = (line) => process.stdout.write(`${line}\n`);
const show = (path) =>
  found.get(path)?.forEach(({ line, phrase, instead }) => say(`${path}:${line}: "${phrase}" (use: ${instead})`));

function check() {
  const allowed = existsSync(RATCHET) ? JSON.parse(readFileSync(RATCHET, 'utf8')) : { folders: {}, files: [] };
  const known = new Set(allowed.files);
  const fresh = [...found.keys()].filter((path) => !known.has(path));
  fresh.forEach(show);
  const risen = Object.entries(folders).filter(([folder, count]) => count > (allowed.folders[folder] ?? 0));
  for (const [folder, count] of risen) {
    say(`${folder}/ has ${count} banned phrases, at most ${allowed.folders[folder] ?? 0} are allowed:`);
    say(`  npm run language -- --list ${folder === '.' ? '' : folder}`);
  }
  if (fresh.length + risen.length > 0)
    say('STYLE: plain, standard technical English. The phrases are in scripts/banned-phrases.json.');
  process.exitCode = fresh.length + risen.length > 0 ? 1 : 0;
}

if (values.list) {
  const isWanted = (path) => positionals.length === 0 || positionals.some((start) => path.startsWith(start));
  [...found.keys()].filter(isWanted).forEach(show);
} else if (values.write) {
  writeFileSync(RATCHET, `${JSON.stringify({ folders, files: [...found.keys()] }, null, 2)}\n`);
} else {
  check();
}
say(
  `${paths.length} files read, ${Object.values(folders).reduce((sum, count) => sum + count, 0)} banned phrases in ${found.size}`,
);
