/** `jackdaw/testing`: contract suites for implementations of Jackdaw's ports. Needs no test framework. */
export { cacheContract } from './cache-contract.js';
export type { ContractCase } from './contract.js';
export { memoryContract } from './memory-contract.js';
export { stateStoreContract } from './state-store-contract.js';
export { sharedTurnArchiveContract, turnArchiveContract } from './turn-archive-contract.js';
