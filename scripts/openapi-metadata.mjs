// Writes the metadata of DTOs and controllers for the OpenAPI document (types, validators, comments), so that neither
// they nor the boot import @nestjs/swagger. The target is src/ or the folder in the first argument.
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
  // Our own program: the generator's own fails while its output file is missing.
  tsProgramRef: ReadonlyVisitor.createTsProgram('tsconfig.build.json'),
});

// Generated code is not linted: it may contain unused variables.
const text = readFileSync(`${folder}/${FILE}`, 'utf8').replace(/^.*eslint-disable.*\n/, '');
writeFileSync(`${folder}/${FILE}`, `// Written by \`npm run openapi:metadata\`.\n// @ts-nocheck\n${text}\n`);
