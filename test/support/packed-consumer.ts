import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { buildIfStale } from './process.js';

export interface PackageFile {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly scripts: Readonly<Record<string, string>>;
}

export interface Ended {
  readonly code: number;
  readonly output: string;
}

const run = promisify(execFile);
/** Packages for compilation that every consumer has. */
const COMPILING = ['typescript', '@types/node'];

/** Packs a package into a folder, by default Jackdaw. @returns the path of the tarball */
export async function packInto(folder: string, source = '.'): Promise<string> {
  buildIfStale();
  const { stdout } = await run('npm', ['pack', source, '--ignore-scripts', '--json', '--pack-destination', folder]);
  return join(folder, Object.values(JSON.parse(stdout) as Record<string, { filename: string }>)[0]!.filename);
}

/** A project in a folder of its own with the packed package and its declared dependencies only. */
export class PackedConsumer {
  private constructor(
    readonly folder: string,
    /** The paths in the tarball. */
    readonly files: readonly string[],
    readonly tarball: string,
  ) {}

  /** @param source folder of the project's files @param more further packages of the project */
  static async create(source: string, more: readonly string[] = []): Promise<PackedConsumer> {
    const folder = mkdtempSync(join(tmpdir(), 'jackdaw-consumer-'));
    cpSync(source, folder, { recursive: true });
    const tarball = await packInto(folder);
    const home = join(folder, 'node_modules', 'jackdaw');
    mkdirSync(home, { recursive: true });
    await run('tar', ['-xzf', tarball, '-C', home, '--strip-components=1']);
    const { stdout: listed } = await run('tar', ['-tzf', tarball]);
    const consumer = new PackedConsumer(
      folder,
      listed
        .trim()
        .split('\n')
        .map((path) => path.replace('package/', '')),
      tarball,
    );
    const { dependencies, peerDependencies, peerDependenciesMeta } = consumer.package();
    const required = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
    const own = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Partial<PackageFile>;
    const all = new Set([...Object.keys(dependencies), ...required, ...COMPILING, ...more]);
    for (const name of Object.keys(own.dependencies ?? {})) if (name !== 'jackdaw') all.add(name);
    consumer.link([...all]);
    return consumer;
  }

  read(path: string): string {
    return readFileSync(join(this.folder, 'node_modules', 'jackdaw', path), 'utf8');
  }

  package(): PackageFile {
    return JSON.parse(this.read('package.json')) as PackageFile;
  }

  /** Runs a Node script in the project, with these variables and no other of ours. */
  node(args: readonly string[], env: Readonly<Record<string, string>> = {}): Ended {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: this.folder,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], ...env },
    });
    return { code: status ?? -1, output: `${stdout}${stderr}` };
  }

  compile(...options: string[]): Ended {
    return this.node(['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', ...options]);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private link(names: readonly string[]): void {
    for (const name of names) {
      const path = join(this.folder, 'node_modules', name);
      mkdirSync(dirname(path), { recursive: true });
      symlinkSync(resolve('node_modules', name), path);
    }
  }
}
