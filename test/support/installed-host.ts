import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { type Ended, packInto, type PackageFile } from './packed-consumer.js';
import { ServerProcess } from './process.js';

type Env = Readonly<Record<string, string>>;

/** Ends a command that hangs, such as a suite that never ends. */
const COMMAND_TIMEOUT_MS = 300_000;
/** npm and package scripts run on the Node of the tests. */
const PATH = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;

/** An application in a folder of its own, which installs the packed package and all others from the registry. */
export class InstalledHost {
  private constructor(
    private readonly root: string,
    readonly folder: string,
    readonly tarball: string,
    /** The `PATH` of its commands. */
    readonly path = PATH,
  ) {}

  /** @param source folder of the application in this repository, which installs the tarball from the repository's root */
  static async create(source: string): Promise<InstalledHost> {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'jackdaw-host-')));
    const folder = join(root, source);
    // The source may have been installed and compiled in place.
    const isSource = (path: string) => !/\/(?:node_modules|dist|package-lock\.json)$/.test(path);
    cpSync(source, folder, { recursive: true, filter: isSource });
    return new InstalledHost(root, folder, await packInto(root));
  }

  /** Changes members of its package.json. */
  changePackage(changes: object): void {
    const path = join(this.folder, 'package.json');
    writeFileSync(path, JSON.stringify({ ...(JSON.parse(readFileSync(path, 'utf8')) as object), ...changes }));
  }

  addDependencies(added: Readonly<Record<string, string>>): void {
    const { dependencies } = JSON.parse(readFileSync(join(this.folder, 'package.json'), 'utf8')) as PackageFile;
    this.changePackage({ dependencies: { ...dependencies, ...added } });
  }

  /** Runs a package manager with the configuration of the user. */
  install(command: string, ...args: string[]): Promise<Ended> {
    return this.execute(command, args, { ...process.env, PATH });
  }

  /** Runs a command with these variables and no other of ours. */
  run(command: string, args: readonly string[], env: Env = {}): Promise<Ended> {
    return this.execute(command, args, { PATH, HOME: process.env['HOME'] ?? this.root, ...env });
  }

  /** Starts a script of the application, and waits until it listens. @returns the process, and the URL */
  async start(script: string, env: Env): Promise<readonly [process: ServerProcess, url: string]> {
    const server = ServerProcess.start(script, { NO_COLOR: '1', PORT: '0', ...env }, [], this.folder);
    await server.waitForOutput(/Listens at \S+/);
    return [server, /Listens at (\S+)/.exec(server.output)![1]!];
  }

  /** Starts a script that calls `serve`, and waits until it listens. */
  async serve(script: string, env: Env): Promise<{ readonly process: ServerProcess; readonly url: string }> {
    const variables = { LOG_FORMAT: 'json', LOG_LEVEL: 'info', PORT: '0', ...env };
    const server = ServerProcess.start(script, variables, [], this.folder);
    await server.waitForOutput(/Jackdaw serves \S+:\d+/);
    return { process: server, url: /Jackdaw serves (http:\/\/[\d.]+:\d+)/.exec(server.output)![1]! };
  }

  /** Folders of the installed copies of a package, without links. */
  copiesOf(name: string): readonly string[] {
    const places = ['node_modules/**', 'node_modules/.pnpm/*/node_modules'];
    const paths = globSync(
      places.map((place) => `${place}/${name}/package.json`),
      { cwd: this.folder },
    );
    return [...new Set(paths.map((path) => dirname(realpathSync(join(this.folder, path)))))];
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  private execute(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
    const options = { cwd: this.folder, env, timeout: COMMAND_TIMEOUT_MS, maxBuffer: 64 * 2 ** 20 };
    return new Promise((resolve) => {
      execFile(command, args, options, (error, stdout, stderr) => {
        const code = error ? (typeof error.code === 'number' ? error.code : -1) : 0;
        resolve({ code, output: `${stdout}${stderr}` });
      });
    });
  }
}
