// Lets four coding agents answer and call a tool of their own with the offline model of a built server. Prints one line
// for each; ends with 1 if one fails. Run by `npm run test:editors`.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'jackdaw-editors-'));
const TIMEOUT_MS = 120_000;
const program = (name) => join(here, 'node_modules/.bin', name);

const server = spawn(process.execPath, [join(here, '../../dist/main.js')], {
  env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: join(home, 'data'), LLM_PROVIDER: 'offline', LOG_FORMAT: 'json' },
});
const baseUrl = await addressOf(server);
writeFileSync(
  join(home, 'config.toml'),
  `model = "default"
model_provider = "jackdaw"
[model_providers.jackdaw]
name = "Jackdaw"
base_url = "${baseUrl}"
env_key = "JACKDAW_KEY"
wire_api = "responses"
`,
);
const options = { baseURL: baseUrl, apiKey: 'none' };
const jackdaw = {
  npm: '@ai-sdk/openai-compatible',
  name: 'Jackdaw',
  options,
  models: { default: { name: 'default' } },
};
writeFileSync(join(home, 'opencode.json'), JSON.stringify({ provider: { jackdaw }, model: 'jackdaw/default' }));
writeFileSync(
  join(home, 'continue.yaml'),
  `name: test
version: 1.0.0
schema: v1
models:
  - name: default
    provider: openai
    model: default
    apiBase: ${baseUrl}
    apiKey: none
    roles: [chat]
    capabilities: [tool_use]
`,
);

/** The command of each agent for a prompt, and a prompt that makes it call its shell. */
const AGENTS = {
  codex: {
    command: (prompt) => [program('codex'), 'exec', '--skip-git-repo-check', prompt],
    call: 'call exec_command {"cmd":"echo from-tool"}',
  },
  opencode: {
    // It puts a prompt of several words into quotation marks.
    command: (prompt) => [program('opencode'), 'run', ...prompt.split(' ')],
    call: 'call bash echo-from-tool',
  },
  cline: {
    command: (prompt) => [program('cline'), '-P', 'openai-compatible', '-m', 'default', '-k', 'none', prompt],
    call: 'call run_commands {"commands":["echo from-tool"]}',
  },
  continue: {
    command: (prompt) => [program('cn'), '-p', '--config', join(home, 'continue.yaml'), '--auto', prompt],
    call: 'call Bash {"command":"echo from-tool"}',
  },
};

run([program('cline'), 'auth', '-p', 'openai', '-k', 'none', '-m', 'default', '-b', baseUrl]);
let failed = 0;
for (const [name, { command, call }] of Object.entries(AGENTS)) {
  const answer = run(command('6 * 7'));
  const called = run(command(call));
  const isOk = answer.includes('42') && called.includes('from-tool');
  failed += isOk ? 0 : 1;
  console.log(`${isOk ? 'ok' : 'FAILED'} ${name}${isOk ? '' : `\n${answer}\n${called}`}`);
}
server.kill();
await once(server, 'exit');
rmSync(home, { recursive: true, force: true });
process.exitCode = failed > 0 ? 1 : 0;

function run([file, ...args]) {
  const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: home, JACKDAW_KEY: 'none' };
  const { stdout, stderr } = spawnSync(file, args, {
    cwd: home,
    env,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    input: '',
  });
  return `${stdout}\n${stderr}`;
}

async function addressOf({ stdout }) {
  for await (const line of createInterface({ input: stdout })) {
    const [, url] = /Jackdaw serves (\S+)\/api\//.exec(line) ?? [];
    if (url !== undefined) return `${url}/v1`;
  }
  throw new Error('The server did not start.');
}
