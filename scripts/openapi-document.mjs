// Writes docs/openapi.json: the document that a server without tools serves at /docs/json. Tests check every answer
// against it, and client generators read it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../dist/config/index.js';
import { createApp } from '../dist/server/bootstrap.js';

const folder = mkdtempSync(join(tmpdir(), 'jackdaw-openapi-'));
const env = { PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'silent', LLM_PROVIDER: 'offline', DOCS_ENABLED: 'true' };
const app = await createApp({ config: loadConfig({ env }).config, builtinTools: false });
await app.listen(0, '127.0.0.1');
const document = await (await fetch(`${await app.getUrl()}/docs/json`)).json();
await app.close();
rmSync(folder, { recursive: true });
writeFileSync(process.argv[2] ?? 'docs/openapi.json', `${JSON.stringify(document, null, 1)}\n`);
