// Writes docs/compatibility.md from the rules of the strict providers in test/support/providers.
//   npm run docs:compatibility
import { existsSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const OUT = 'docs/compatibility.md';

// The tests import `./x.js` for `./x.ts`, as TypeScript resolves it.
registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith('.') || !context.parentURL) return next(specifier, context);
    const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    return next(existsSync(fileURLToPath(source)) ? source.href : specifier, context);
  },
});

const { renderCompatibility } = await import('../test/support/compatibility-docs.ts');
const options = await resolveConfig(OUT);
writeFileSync(OUT, await format(renderCompatibility(), { ...options, parser: 'markdown' }));
