const ROLES =
  'module controller service registry explorer accessor executor engine protocol processor node parser loader factory builder decorator guard interceptor pipe filter indicator policy wrapper mapper handler store client model tool entity migration dto schema types error';

/**
 * The ports, and the nouns of the design that are more than a role. A port's file has its name; the name of
 * an implementation ends in it: local-run-dispatcher.ts.
 */
const PORTS = [
  'authenticator',
  'cache',
  'chat-model',
  'cipher',
  'clock',
  'database',
  'database-reader',
  'embedding-model',
  'extension',
  'fact-memory',
  'memory',
  'memory-policy',
  'model-budget',
  'model-factory',
  'notification-channel',
  'processor',
  'protocol',
  'rate-limiter',
  'run-bus',
  'run-context',
  'run-dispatcher',
  'principal-directory',
  'run-journal',
  'run-lease',
  'run-outbox',
  'reservation',
  'run-queue',
  'session-store',
  'state-manager',
  'state-store',
  'state-backend',
  'token-counter',
  'tool-pin-store',
  'tool-policy',
  'transport',
  'turn-archive',
  'turn-store',
];

const ROLE_NAME = new RegExp(`^[a-z0-9]+(-[a-z0-9]+)*\\.(${ROLES.replaceAll(' ', '|')})(\\.spec)?\\.ts$`);
const PORT_NAME = new RegExp(`^([a-z0-9]+-)*(${PORTS.join('|')})(\\.spec)?\\.ts$`);
const SPEC_NAME = /^[a-z0-9]+(-[a-z0-9]+)*\.spec\.ts$/;

/**
 * The fault of a path under src/, if any. Files of the composition (src/*.ts) have no rule; index.ts is a module's
 * entry.
 */
export function fileNameFault(path: string): string | undefined {
  const folders = path.split('/');
  const file = folders.pop() ?? '';
  if (folders.some((folder) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(folder))) return `${path}: a folder is kebab-case`;
  if (folders.length === 0) return undefined;
  if (file === 'index.ts') return folders.length === 1 ? undefined : `${path}: only a module has an index.ts`;
  if ([ROLE_NAME, PORT_NAME, SPEC_NAME].some((pattern) => pattern.test(file))) return undefined;
  return `${path}: neither name.role.ts with a role of the list nor a port's name`;
}
