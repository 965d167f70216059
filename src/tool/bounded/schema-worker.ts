import { Worker, type WorkerOptions } from 'node:worker_threads';

/** Starts the thread of schema checks; in tests, from TypeScript, which Node runs, too. */
export function startSchemaWorker(options: WorkerOptions): Worker {
  if (import.meta.url.endsWith('.ts')) return new Worker(sourceOf('./schema-check.executor.ts'), options);
  // Bundlers find the file by this form.
  return new Worker(new URL('./schema-check.executor.js', import.meta.url), options);
}

function sourceOf(file: string): URL {
  return new URL(file, import.meta.url);
}
