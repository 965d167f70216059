import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { processesWith } from './support/mcp/process-list.js';
import { buildIfStale } from './support/process.js';

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'support', 'without-proc.mjs')).href;
const urlOf = (path: string) => JSON.stringify(pathToFileURL(path).href);

let folder: string;
beforeAll(buildIfStale);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-platform-'));
});
afterEach(() => {
  for (const pid of processesWith(folder)) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true });
});

function argsOf(script: string): string[] {
  const text = `const FOLDER = ${JSON.stringify(folder)};\n${script}`;
  return ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', text];
}

/** The output of a module that runs without /proc; FOLDER is its folder. */
function run(script: string, env: Record<string, string> = {}): string {
  const { stdout, stderr } = spawnSync(process.execPath, [`--import=${PRELOAD}`, ...argsOf(script)], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return stdout + stderr;
}

describe('two processes on one data folder without /proc', () => {
  it('leave the programs of each other alone; those of an ended one are forgotten', async () => {
    const script = join(import.meta.dirname, 'support', 'leave-program.mjs');
    const owner = spawn(process.execPath, [`--import=${PRELOAD}`, script, folder], { stdio: 'pipe' });
    await once(owner.stdout, 'data');
    const entries = () => ['a', 'b'].flatMap((name) => readdirSync(join(folder, name, 'mcp-children')));
    const reap = `
      import { ChildLedger } from ${urlOf('dist/mcp/process/child-ledger.store.js')};
      for (const name of ['a', 'b']) new ChildLedger(FOLDER + '/' + name).reap();`;
    expect(run(reap)).toBe('');
    expect(entries()).toHaveLength(2);

    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(run(reap)).toBe('');
    expect(entries()).toEqual([]);
  });
});

describe('a program without /proc and signals to groups', () => {
  it('is ended, although it ignores its end of input and SIGTERM', () => {
    const script = `
      import { ChildLedger } from ${urlOf('dist/mcp/process/child-ledger.store.js')};
      import { ChildProcessTransport } from ${urlOf('dist/mcp/process/child-process-transport.js')};
      const deaf = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('{}')";
      const transport = new ChildProcessTransport(
        { kind: 'stdio', command: process.execPath, args: ['-e', deaf, FOLDER], env: {} },
        { ledger: new ChildLedger(FOLDER), maxMessageBytes: 1000, baseEnv: {} },
      );
      await transport.start();
      const hold = setInterval(() => {}, 1000);
      // It is deaf once it has written a line.
      await new Promise((resolve) => (transport.onerror = transport.onmessage = resolve));
      await transport.close();
      clearInterval(hold);
      console.log(transport.fault);`;
    expect(run(script)).toBe('it was terminated by SIGKILL\n');
    expect(processesWith(`1000); console.log('{}')\u0000${folder}`)).toEqual([]);
    expect(readdirSync(join(folder, 'mcp-children'))).toEqual([]);
    expect(statSync(join(folder, 'mcp-children')).mode & 0o777).toBe(0o700);
  });
});

describe('a folder that cannot be synced', () => {
  it('stores tool states again and again', () => {
    const script = `
      import { StateFolder } from ${urlOf('dist/tool-state/backend/state-folder.js')};
      const states = await StateFolder.open(FOLDER + '/states', false);
      for (const text of ['one', 'two']) await states.write('a', text);
      await states.write('b', 'three');
      await states.remove('b');
      console.log(await states.names(), await states.read('a'));`;
    expect(run(script)).toBe("{ current: [ 'a' ], old: [] } two\n");
  });

  it('stores sessions', () => {
    const script = `
      import { SessionFile } from ${urlOf('dist/session/projection/session-file.js')};
      const key = { tenant: 't', id: 's' };
      await SessionFile.create(FOLDER + '/s.jsonl', key);
      const file = await SessionFile.read(FOLDER + '/s.jsonl', key);
      console.log((await file.without(key, () => false)).last);`;
    expect(run(script)).toBe('0\n');
  });
});

describe("Node's permission model", () => {
  it('skips the measurement of the disk', () => {
    const script = `import { measureFsync } from ${urlOf('src/persistence/fsync.indicator.ts')};
      console.log(measureFsync(FOLDER))`;
    const permission = ['--permission', '--allow-fs-read=*', `--allow-fs-write=${folder}`];
    const { stdout } = spawnSync(process.execPath, [...permission, ...argsOf(script)], { encoding: 'utf8' });
    expect(stdout).toBe('null\n');
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a file that another process has open on Windows', () => {
  const replace = (faults: number) => {
    writeFileSync(join(folder, 'new'), 'new');
    writeFileSync(join(folder, 'old'), 'old');
    const script = `
      import { replaceFile } from ${urlOf('src/kernel/platform/durable-files.ts')};
      await replaceFile(FOLDER + '/new', FOLDER + '/old').catch((error) => console.log(error.code));`;
    return run(script, { RENAME_FAULTS: String(faults) });
  };

  it('is replaced when it is closed', () => {
    expect(replace(3)).toBe('');
    expect(readFileSync(join(folder, 'old'), 'utf8')).toBe('new');
    expect(existsSync(join(folder, 'new'))).toBe(false);
  });

  it('is reported if it stays open', () => {
    expect(replace(1_000_000)).toBe('EBUSY\n');
    expect(readFileSync(join(folder, 'old'), 'utf8')).toBe('old');
  });
});
