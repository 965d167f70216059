// Writes the metadata of DTOs and controllers for the OpenAPI document (types, validators, comments), so that neither
// they nor the boot import @nestjs/swagger. The target is src/openapi/generated/ or the folder in the first argument.
import { readFileSync, writeFileSync } from 'node:fs';
import { PluginMetadataGenerator } from '@nestjs/cli/lib/compiler/plugins/plugin-metadata-generator.js';
import { ReadonlyVisitor } from '@nestjs/swagger/plugin';
import { typeSchemas } from './type-schemas.mjs';

const FILE = 'openapi-metadata.ts';
const GENERATED = 'src/openapi/generated';
const folder = process.argv[2] ?? GENERATED;
const program = ReadonlyVisitor.createTsProgram('tsconfig.build.json');

new PluginMetadataGenerator().generate({
  visitors: [
    new ReadonlyVisitor({
      // Imports of the output are relative to this folder.
      pathToSource: `${process.cwd()}/${GENERATED}`,
      introspectComments: true,
      classValidatorShim: true,
      dtoFileNameSuffix: ['.dto.ts'],
      controllerFileNameSuffix: ['.controller.ts'],
    }),
  ],
  outputDir: folder,
  filename: FILE,
  // Our own program: the generator's own fails while its output file is missing.
  tsProgramRef: program,
});

// Generated code is not linted: it may contain unused variables.
const text = readFileSync(`${folder}/${FILE}`, 'utf8').replace(/^.*eslint-disable.*\n/, '');
writeFileSync(`${folder}/${FILE}`, `// Written by \`npm run openapi:metadata\`.\n// @ts-nocheck\n${text}\n`);
const schemas = Object.entries(typeSchemas(program)).map(([name, schema]) => `  ${name}: ${JSON.stringify(schema)},\n`);
writeFileSync(
  `${folder}/type-schemas.ts`,
  `// Written by \`npm run openapi:metadata\`.\nexport const TYPE_SCHEMAS: Readonly<Record<string, object>> = {\n${schemas.join('')}};\n`,
);
