// Writes what the OpenAPI document needs to know of DTOs and controllers (types, validators, comments), so that neither
// they nor the boot import @nestjs/swagger. Into src/, or the folder that is given.
import { readFileSync, writeFileSync } from 'node:fs';
import { PluginMetadataGenerator } from '@nestjs/cli/lib/compiler/plugins/plugin-metadata-generator.js';
import { ReadonlyVisitor } from '@nestjs/swagger/plugin';

const FILE = 'openapi-metadata.ts';
const folder = process.argv[2] ?? 'src';

new PluginMetadataGenerator().generate({
  visitors: [
    new ReadonlyVisitor({
      pathToSource: `${process.cwd()}/src`,
      introspectComments: true,
      classValidatorShim: true,
      dtoFileNameSuffix: ['.dto.ts'],
      controllerFileNameSuffix: ['.controller.ts'],
    }),
  ],
  outputDir: folder,
  filename: FILE,
  // A program of our own: the generator's refuses to run as long as the file it is to write is missing.
  tsProgramRef: ReadonlyVisitor.createTsProgram('tsconfig.build.json'),
});

// Generated code has its own ways, such as a map that nothing reads when there are no DTOs.
const text = readFileSync(`${folder}/${FILE}`, 'utf8').replace(/^.*eslint-disable.*\n/, '');
writeFileSync(`${folder}/${FILE}`, `// Written by \`npm run openapi:metadata\`.\n// @ts-nocheck\n${text}\n`);
