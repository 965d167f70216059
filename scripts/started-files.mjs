/**
 * Files that a thread or process starts from, by the file of `dist/` without its extension. A bundle has each under its own name,
 * beside the code that starts it.
 */
export const STARTED_FILES = [
  'health/health-port.executor',
  'tool/bounded/schema-check.executor',
  'reasoning/script/script.executor',
  'database-extension/sqlite-read.executor',
];
