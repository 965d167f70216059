import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Nest's own command line, of the repository. */
export const NEST = join(process.cwd(), 'node_modules/@nestjs/cli/bin/nest.js');

/** `nest new` runs it, but has no option for the module system. */
const SCHEMATICS = join(process.cwd(), 'node_modules/@angular-devkit/schematics-cli/bin/schematics.js');

/** Generates an application as `nest new` does, without installing it. @returns its folder */
export async function generateNestApp(type: 'esm' | 'cjs', platform: 'express' | 'fastify'): Promise<string> {
  const parent = mkdtempSync(join(tmpdir(), 'jackdaw-nest-'));
  const schematic = `${join(process.cwd(), 'node_modules/@nestjs/schematics/dist/collection.json')}:application`;
  const options = [
    `--type=${type}`,
    '--name=shop',
    '--directory=shop',
    '--language=ts',
    '--package-manager=npm',
    '--no-dry-run',
  ];
  await promisify(execFile)(process.execPath, [SCHEMATICS, schematic, ...options], { cwd: parent });
  const folder = join(parent, 'shop');
  change(join(folder, 'src/main.ts'), (source) => {
    const adapter = platform === 'fastify' ? ', new FastifyAdapter()' : '';
    const imported = platform === 'fastify' ? "import { FastifyAdapter } from '@nestjs/platform-fastify';\n" : '';
    return `${imported}${source}`
      .replace('create(AppModule)', `create(AppModule${adapter})`)
      .replace(
        /await app\.listen\(.*\);/,
        "await app.listen(0);\n  console.log('Listens at ' + (await app.getUrl()));",
      );
  });
  change(join(folder, 'package.json'), (source) =>
    source.replaceAll('@nestjs/platform-express', `@nestjs/platform-${platform}`),
  );
  return folder;
}

function change(path: string, by: (source: string) => string): void {
  writeFileSync(path, by(readFileSync(path, 'utf8')));
}
