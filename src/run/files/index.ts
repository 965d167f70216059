/** Files of runs: data of results and inputs that is stored beside the journal. */
export { toPublishedFile } from './run-file.mapper.js';
export { RunFileService } from './run-file.service.js';
export { RunFileStore } from './run-file.store.js';
export type { PublishedFile, RunFile } from './run-file.types.js';
export type { PublishedImage } from './published-image.types.js';
