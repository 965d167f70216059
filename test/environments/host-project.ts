import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { PackedConsumer } from '../support/packed-consumer.js';

/** The host application of these specs, with the packed package and all packages of both installations. */
export async function createHostProject(): Promise<PackedConsumer> {
  const project = await PackedConsumer.create('test/environments/host');
  for (const home of ['node_modules', 'test/environments/node_modules']) {
    for (const name of packagesOf(resolve(home))) {
      const path = join(project.folder, 'node_modules', name);
      if (existsSync(path)) continue;
      mkdirSync(dirname(path), { recursive: true });
      symlinkSync(resolve(home, name), path);
    }
  }
  return project;
}

function packagesOf(home: string): string[] {
  const names = readdirSync(home).filter((name) => !name.startsWith('.'));
  const scoped = (scope: string) => readdirSync(join(home, scope)).map((name) => `${scope}/${name}`);
  return names.flatMap((name) => (name.startsWith('@') ? scoped(name) : [name]));
}
