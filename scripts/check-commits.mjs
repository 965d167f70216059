// Checks the subjects of all commits after the one that added this file: `type(scope): subject`, at most 72 characters, no
// banned phrase. In a shallow clone the oldest commit that git has counts as that one.      npm run commits
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const TYPES = ['feat', 'fix', 'docs', 'test', 'refactor', 'perf', 'build', 'ci', 'chore', 'style', 'revert'];
const SUBJECT = new RegExp(`^(?:${TYPES.join('|')})(?:\\([a-z0-9-]+(?:, ?[a-z0-9-]+)*\\))?!?: \\S`);
const MAX_LENGTH = 72;
const BANNED = JSON.parse(readFileSync(new URL('banned-phrases.json', import.meta.url), 'utf8')).map(
  ([pattern]) => new RegExp(pattern, 'iu'),
);

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();

function faultOf(subject) {
  if (!SUBJECT.test(subject)) return `is not "type(scope): subject" with a type of ${TYPES.join(', ')}`;
  if (subject.length > MAX_LENGTH) return `has ${subject.length} characters, at most ${MAX_LENGTH} are allowed`;
  const banned = BANNED.map((pattern) => pattern.exec(subject)?.[0]).find(Boolean);
  return banned && `contains the banned phrase "${banned}" (scripts/banned-phrases.json)`;
}

// An exported archive has no history to check.
const isRepository = () => {
  try {
    return git('rev-parse', '--is-inside-work-tree') === 'true';
  } catch {
    return false;
  }
};

if (isRepository()) {
  const added = git('log', '--diff-filter=A', '--format=%H', '--', 'scripts/check-commits.mjs').split('\n').at(-1);
  const commits = added
    ? git('log', '--no-merges', '--format=%h %s', `${added}..HEAD`).split('\n').filter(Boolean)
    : [];
  for (const commit of commits) {
    const [hash, subject] = [commit.slice(0, commit.indexOf(' ')), commit.slice(commit.indexOf(' ') + 1)];
    const fault = faultOf(subject);
    if (!fault) continue;
    process.stderr.write(`${hash} "${subject}" ${fault}\n`);
    process.exitCode = 1;
  }
}
