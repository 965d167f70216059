/** The port of retrievers, and the tool that calls one. */
export { Retriever, retrieverTool } from './retriever.js';
export type { Passage, RetrieveOptions, RetrieverToolOptions } from './retriever.js';
